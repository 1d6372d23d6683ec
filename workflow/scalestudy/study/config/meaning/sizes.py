"""Networks and batches that one process cannot hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import prod
from typing import Any

from scalestudy.study.config.datasets import Synthetic
from scalestudy.study.config.meaning.facts import built_in, most_ranks
from scalestudy.study.config.models import (
    ConvnetModel,
    HuggingFaceModel,
    LanguageModel,
    MlpModel,
    TextClassifierModel,
)
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload

MOST_ON_DEVICE, MOST_IN_MEMORY = 1e12, 32e12
"""Bytes: more than any device has, and as many as the largest host."""
FASTEST_DEVICE, FASTEST_CORE = 1e16, 1e13
"""Operations per second of matrix products: more than any GPU, and any core of a CPU, reaches in bf16."""
FASTEST_DEVICE_FP32, FASTEST_CORE_FP32 = 2e14, 4e11
"""The same in fp32. AMD's data sheet of the MI300X gives 163e12; a core with two units of 16 numbers makes 64
operations in a cycle, which are 0.38e12 at 6 GHz."""


def wrong_sizes(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each workload whose baseline fits no machine."""
    for name, workload in built_in(study).items():
        too_large = list(_too_large(study, workload))
        yield from (f"workloads.{name}.{line}" for line in too_large)
        limit = study.host.memory_limit_gib
        if limit is not None and (needed := _least_bytes(study, workload) / 2**30) > limit:
            yield (
                f"host.memory_limit_gib: {limit:g} GiB are less than the {needed:.3g} GiB or more that every run"
                f" of workload {name} needs for data, weights, gradients, optimizer and the outputs of the"
                " layers, so none can train; raise it, or use a smaller network or batch"
            )
        if not too_large:
            yield from (f"workloads.{name}.{line}" for line in _too_slow(study, workload))
            yield from _stalled(study, name, workload)


def _too_slow(study: Study, workload: Workload) -> Iterator[str]:
    """Trainings whose arithmetic alone takes one process, the baseline, longer than a run may last."""
    steps = study.measure.warmup_steps + study.measure.min_steps
    samples = workload.epochs * (workload.known_train_samples or 0) or steps * workload.batch_size
    rate = max(_fastest(study, name) for name in study.singles())
    minutes = samples * _operations(workload) / rate / 60
    if minutes > study.time_limit_min:
        key = f"epochs: {workload.epochs} are" if workload.epochs else f"batch_size: {steps} steps are"
        yield (
            f"{key} {samples} samples, and one process, the baseline, computes them in {minutes:.3g} min or more"
            f" even at {rate:.0e} operations per second, longer than time_limit_min: {study.time_limit_min:g}; use"
            " fewer samples, a smaller network or more time"
        )


def _stalled(study: Study, name: str, workload: Workload) -> Iterator[str]:
    """A limit that ends every baseline in its backward pass, a single call of a micro-batch."""
    singles = {one: study.variants[one] for one in study.singles()}
    if any(variant.activation_checkpointing for variant in singles.values()):  # it runs forward passes between
        return
    samples = {one: workload.batch_size / variant.accumulation_steps for one, variant in singles.items()}
    shortest_s = min(samples[one] * _operations(workload) / _fastest(study, one) for one in singles)
    if shortest_s > study.stall_limit_s:
        yield (
            f"stall_limit_s: a backward pass of workload {name} takes one process, the baseline,"
            f" {shortest_s:.3g} s or more, so {study.stall_limit_s:g} s end every run; use several"
            " times as many, or a smaller batch"
        )


def _fastest(study: Study, variant: str) -> float:
    """Operations per second that no process of a variant exceeds."""
    plain = study.variants[variant].precision == "fp32"
    if study.host.device == "cpu":
        return (FASTEST_CORE_FP32 if plain else FASTEST_CORE) * (study.host.cores_per_rank or 1)
    return FASTEST_DEVICE_FP32 if plain else FASTEST_DEVICE


def _operations(workload: Workload) -> float:
    """At least the operations of a sample: two in the forward and two in the backward pass for each weight that is
    applied; 0 where they are not known."""
    model, data = workload.model, workload.data
    places = 1
    if isinstance(model, ConvnetModel):
        places = prod(data.shape[1:])
    elif not isinstance(model, MlpModel):
        places = prod(data.shape)
    return 4.0 * places * (_parameters(workload) - _embedded(workload))


def _embedded(workload: Workload) -> float:
    """Parameters of a table of tokens, which are looked up."""
    model = workload.model
    if isinstance(model, LanguageModel | TextClassifierModel):
        return float(model.shape[0] * (workload.data.tokens or 0))
    return 0.0


def _least_bytes(study: Study, workload: Workload) -> float:
    """Memory of a rank in the smallest run of a workload, at least."""
    data = workload.data
    held = isinstance(data, Synthetic) and (data.on_device or study.host.device == "cpu")
    fixed = data.bytes if held else 0.0  # type: ignore[union-attr]
    weights = 4.0 * _copies(workload) * _parameters(workload)
    ranks = most_ranks(study)
    share = workload.batch_size / (ranks if "strong" in workload.scaling else 1)  # of a reference, too
    found = []
    for variant in study.variants.values():
        outputs = 0.0 if variant.activation_checkpointing else _activations(workload)
        sharded = ranks if variant.strategy == "fsdp" else 1
        found.append(fixed + weights / sharded + 2 * share / variant.accumulation_steps * outputs)
    return min(found)


def _copies(workload: Workload) -> int:
    """Numbers of the size of a parameter: itself, its gradient, and those of the optimizer."""
    return 4 if workload.optimizer.type != "sgd" else 2 + bool(workload.optimizer.momentum)


def _too_large(study: Study, workload: Workload) -> Iterator[str]:
    """Networks and batches that one process, the baseline, cannot hold."""
    most = MOST_ON_DEVICE if study.host.device == "cuda" else MOST_IN_MEMORY
    if (needed := 4 * _copies(workload) * (size := _parameters(workload))) > most:
        yield (
            f"model: its {size:.2g} parameters need {needed / 1e12:.1f} TB with gradients and optimizer, and one"
            f" process, the baseline, has at most {most / 1e12:g} TB; use a smaller network"
        )
    parts = max(study.variants[name].accumulation_steps for name in study.singles())
    plain = any(not study.variants[name].activation_checkpointing for name in study.singles())
    if plain and (needed := 2 * workload.batch_size / parts * _activations(workload)) > most:
        yield (
            f"batch_size: {workload.batch_size} samples need {needed / 1e12:.1f} TB for the outputs of the layers,"
            f" and one process, the baseline, has at most {most / 1e12:g} TB; use a smaller batch, or shorter"
            " samples"
        )


def _activations(workload: Workload) -> float:
    """At least the outputs of the layers for a sample, in numbers; 0 where they are not known."""
    model, data = workload.model, workload.data
    if isinstance(model, MlpModel):
        return float(sum(model.hidden))
    if isinstance(model, ConvnetModel):
        return float(prod(data.shape[1:]) * model.channels * model.num_layers)
    if isinstance(model, LanguageModel | TextClassifierModel):
        width, _, layers, _ = model.shape
        return float(prod(data.shape) * width * layers) + _scores(workload)
    return _scores(workload)


def _scores(workload: Workload) -> float:
    """Scores of the tokens at all positions, with their logarithms and gradients, if the next one is predicted."""
    model, data = workload.model, workload.data
    if isinstance(model, LanguageModel) or (isinstance(model, HuggingFaceModel) and model.task == "next-token"):
        return 3.0 * prod(data.shape) * (data.tokens or 0)
    return 0.0


def _parameters(workload: Workload) -> float:
    """About the parameters of a network, without those of its outputs; 0 where they are not known."""
    model, data = workload.model, workload.data
    if isinstance(model, MlpModel):
        return float(sum(map(prod, pairwise((prod(data.shape), *model.hidden)))))
    if isinstance(model, ConvnetModel):
        channels = (data.shape[0], *[model.channels] * model.num_layers)
        return 9.0 * sum(map(prod, pairwise(channels)))
    if isinstance(model, LanguageModel | TextClassifierModel):
        width, _, layers, feedforward = model.shape
        return float(layers * (4 * width**2 + 2 * width * feedforward)) + _embedded(workload)
    return 0.0
