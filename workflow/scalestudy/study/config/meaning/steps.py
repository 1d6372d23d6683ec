"""Steps that a run does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from scalestudy.study.config.meaning.facts import built_in, scripts
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload


def wrong_steps(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key that needs more steps than a run has."""
    most: dict[str, int] = dict.fromkeys(study.variants, 0)
    unknown = set(study.variants) if scripts(study) else set()
    """Variants with a run whose number of steps is not known before it is made."""
    for name, workload in built_in(study).items():
        fewest, where = None, ""
        for variant, scale, scaling in _points(study, workload):
            steps = _steps_of(study, workload, scale, scaling)
            if steps is None:
                unknown.add(variant)
                continue
            most[variant] = max(most[variant], steps)
            if workload.epochs and (fewest is None or steps < fewest):
                fewest, where = steps, f"{scale} ({scaling})"
        if fewest is not None:
            for line in _too_few(study, workload, fewest, where):
                yield f"workloads.{name}.{line}"
    for name in [name for name in study.variants if name not in unknown]:
        for key in ("log_every_steps", "checkpoint_every_steps"):
            every = getattr(study.variants[name], key)
            if every is not None and every > most[name]:
                yield (
                    f"variants.{name}.{key}: no run has {every} steps, the longest has {most[name]}; use fewer, or"
                    " leave it out"
                )


def _too_few(study: Study, workload: Workload, fewest: int, where: str) -> Iterator[str]:
    """Lines about a workload whose shortest run has too few steps. fewest: its steps. where: its scale."""
    epochs, left_out = workload.epochs, study.measure.warmup_steps
    if fewest <= left_out:
        yield (
            f"epochs: with {epochs} a run has {fewest} steps at {where}, and the first {left_out} are left out"
            " (measure.warmup_steps); use more epochs, or fewer warm-up steps"
        )
    if workload.optimizer.warmup_steps > fewest:
        yield (
            f"optimizer.warmup_steps: {workload.optimizer.warmup_steps} is more than the {fewest} steps of a run"
            f" at {where}; use fewer, or more epochs"
        )


def _points(study: Study, workload: Workload) -> Iterator[tuple[str, str, str]]:
    for name, variant in study.variants.items():
        for scale in ("1x1",) if variant.strategy == "single" else study.scales:
            for scaling in workload.scaling:
                yield name, scale, scaling


def _steps_of(study: Study, workload: Workload, scale: str, scaling: str) -> int | None:
    """The most optimizer steps that a run can have; None where it is not known before the data are read."""
    if not workload.epochs:
        measure = study.measure
        return max(measure.max_warmup_steps, measure.warmup_steps) + measure.max_steps + measure.block_steps
    samples = workload.known_train_samples or getattr(workload.data, "max_samples", None)
    if samples is None or samples < workload.batch_size:  # the second has a line of its own
        return None
    ranks = world_size(scale) if scaling == "weak" else 1
    return workload.epochs * ceil(samples / (workload.batch_size * ranks))
