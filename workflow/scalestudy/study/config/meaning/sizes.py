"""Networks and batches that one process cannot hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.datasets import Synthetic
from scalestudy.study.config.meaning.arithmetic import stalled, too_slow
from scalestudy.study.config.meaning.facts import built_in, most_ranks
from scalestudy.study.config.meaning.networks import activations, parameters
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload

MOST_ON_DEVICE, MOST_IN_MEMORY = 1e12, 32e12
"""Bytes: more than any device has, and as many as the largest host."""


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
            yield from (f"workloads.{name}.{line}" for line in too_slow(study, workload))
            yield from stalled(study, name, workload)


def _least_bytes(study: Study, workload: Workload) -> float:
    """Memory of a rank in the smallest run of a workload, at least."""
    data = workload.data
    held = isinstance(data, Synthetic) and (data.on_device or study.host.device == "cpu")
    fixed = data.bytes if held else 0.0  # type: ignore[union-attr]
    weights = 4.0 * _copies(workload) * parameters(workload)
    ranks = most_ranks(study)
    share = workload.batch_size / (ranks if "strong" in workload.scaling else 1)  # of a reference, too
    found = []
    for variant in study.variants.values():
        outputs = 0.0 if variant.activation_checkpointing else activations(workload)
        sharded = ranks if variant.strategy == "fsdp" else 1
        found.append(fixed + weights / sharded + 2 * share / variant.accumulation_steps * outputs)
    return min(found)


def _copies(workload: Workload) -> int:
    """Numbers of the size of a parameter: itself, its gradient, and those of the optimizer."""
    return 4 if workload.optimizer.type != "sgd" else 2 + bool(workload.optimizer.momentum)


def _too_large(study: Study, workload: Workload) -> Iterator[str]:
    """Networks and batches that one process, the baseline, cannot hold."""
    most = MOST_ON_DEVICE if study.host.device == "cuda" else MOST_IN_MEMORY
    if (needed := 4 * _copies(workload) * (size := parameters(workload))) > most:
        yield (
            f"model: its {size:.2g} parameters need {needed / 1e12:.1f} TB with gradients and optimizer, and one"
            f" process, the baseline, has at most {most / 1e12:g} TB; use a smaller network"
        )
    singles = [study.variants[name] for name in study.singles()]
    parts = [one.accumulation_steps for one in singles if not one.activation_checkpointing]
    if parts and (needed := 2 * workload.batch_size / min(parts) * activations(workload)) > most:
        yield (
            f"batch_size: {workload.batch_size} samples need {needed / 1e12:.1f} TB for the outputs of the layers,"
            f" and one process, the baseline, has at most {most / 1e12:g} TB; use a smaller batch, or shorter"
            " samples"
        )
