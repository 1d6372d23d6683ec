"""Networks and batches that one process cannot hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import prod
from typing import Any

from scalestudy.study.config.meaning.facts import built_in
from scalestudy.study.config.models import ConvnetModel, LanguageModel, MlpModel, TextClassifierModel
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload

MOST_ON_DEVICE, MOST_IN_MEMORY = 1e12, 32e12
"""Bytes: more than any device has, and as many as the largest host."""


def wrong_sizes(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each workload whose baseline fits no machine."""
    for name, workload in built_in(study).items():
        yield from (f"workloads.{name}.{line}" for line in _too_large(study, workload))


def _too_large(study: Study, workload: Workload) -> Iterator[str]:
    """Networks and batches that one process, the baseline, cannot hold."""
    most = MOST_ON_DEVICE if study.host.device == "cuda" else MOST_IN_MEMORY
    copies = 4 if workload.optimizer.type != "sgd" else 2 + bool(workload.optimizer.momentum)
    if (needed := 4 * copies * (size := _parameters(workload))) > most:
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
        return float(prod(data.shape) * width * layers)
    return 0.0


def _parameters(workload: Workload) -> float:
    """About the parameters of a network, without those of its outputs; 0 where they are not known."""
    model, data = workload.model, workload.data
    if isinstance(model, MlpModel):
        return float(sum(map(prod, pairwise((prod(data.shape), *model.hidden)))))
    if isinstance(model, ConvnetModel):
        return 9.0 * model.channels**2 * model.num_layers
    if isinstance(model, LanguageModel | TextClassifierModel):
        width, _, layers, feedforward = model.shape
        return float(layers * (4 * width**2 + 2 * width * feedforward) + width * (data.tokens or 0))
    return 0.0
