"""Keys of a study that a user wrote and that mean nothing beside the others, though each of them is valid.

Only a study that a user writes is refused for this. A trial, say, keeps keys of the study that it comes from.
A value that is the default counts as not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload
from scalestudy.study.identity import DEFAULTS

RANDOM = "synthetic-"
"""How the types of data begin whose labels are random."""


def meaningless(study: Study, content: Mapping[str, Any]) -> list[str]:
    """A line for each key, with its path, its value and what would be right. content: the study as it is
    written."""
    return [*_alone(study, content), *_never_launched(study), *_limits(study), *_steps(study)]


def _alone(study: Study, content: Mapping[str, Any]) -> Iterator[str]:
    """Keys that nothing heeds where every variant is one process."""
    if any(variant.strategy != "single" for variant in study.variants.values()):
        return
    said = "every variant is one process, which runs at 1x1"
    if wide := [scale for scale in study.scales if world_size(scale) > 1]:
        yield f"scales: nothing runs at {wide[0]}, since {said}; add a ddp or fsdp variant, or set scales: [1x1]"
    if study.until_decided and content.get("max_repeats"):
        yield (
            f"max_repeats: {study.max_repeats} launches are never made, since nothing is compared: {said}; leave"
            " it out, or set measure.until: precise"
        )
    if study.report.forecast_scales:
        scale = study.report.forecast_scales[0]
        yield (
            f"report.forecast_scales: nothing can be forecast to {scale}, since {said}; add a ddp or fsdp variant,"
            " or leave it out"
        )


def _never_launched(study: Study) -> Iterator[str]:
    older = study.defaults < DEFAULTS  # it was the default
    if study.measure.until == "precise" and study.most_repeats == study.repeats and not older:
        yield (
            f"measure.until: precise decides on launches beyond repeats: {study.repeats}, and there are none;"
            " raise max_repeats, or leave it out"
        )


def _limits(study: Study) -> Iterator[str]:
    """Limits that another one comes before."""
    minutes = study.time_limit_min
    if _set(study, "allocation_limit_min") and study.allocation_limit_min < minutes:
        yield (
            f"allocation_limit_min: a job of {study.allocation_limit_min:g} min has no room for a launch of"
            f" time_limit_min: {minutes:g}; raise it to {minutes:g} or more, or lower time_limit_min"
        )
    if _set(study, "stall_limit_s") and study.stall_limit_s > 60 * minutes:
        yield (
            f"stall_limit_s: {study.stall_limit_s:g} s are never waited for, since time_limit_min: {minutes:g}"
            " ends a launch before; lower it, or leave it out"
        )


def _set(study: Study, key: str) -> bool:
    return bool(getattr(study, key) != Study.model_fields[key].default)


def _steps(study: Study) -> Iterator[str]:
    """What is asked of steps that a training does not have."""
    most: dict[str, int] = dict.fromkeys(study.variants, 0)
    for name, workload in study.workloads.items():
        path = f"workloads.{name}"
        if not isinstance(workload, Workload):
            return  # nobody knows how many steps a script has
        if workload.target_accuracy is not None and workload.data.type.startswith(RANDOM):
            yield (
                f"{path}.target_accuracy: labels of {workload.data.type} are random, so there is nothing to learn;"
                " leave it out, or use other data"
            )
        fewest, where = None, ""
        for variant, scale, scaling in _points(study, workload):
            steps = _steps_of(study, workload, scale, scaling)
            if steps is None:
                return
            most[variant] = max(most[variant], steps)
            if workload.epochs and (fewest is None or steps < fewest):
                fewest, where = steps, f"{scale} ({scaling})"
        if fewest is not None and fewest <= study.measure.warmup_steps:
            yield (
                f"{path}.epochs: with {workload.epochs} a launch has {fewest} steps at {where}, and the first"
                f" {study.measure.warmup_steps} are left out (measure.warmup_steps); give more epochs, or fewer"
                " warm-up steps"
            )
    for name, one in study.variants.items():
        for key in ("log_every_steps", "checkpoint_every_steps"):
            every = getattr(one, key)
            if every is not None and every > most[name]:
                yield (
                    f"variants.{name}.{key}: no launch has {every} steps, the longest has {most[name]}; give"
                    " fewer, or leave it out"
                )


def _points(study: Study, workload: Workload) -> Iterator[tuple[str, str, str]]:
    for name, variant in study.variants.items():
        for scale in ("1x1",) if variant.strategy == "single" else study.scales:
            for scaling in workload.scaling:
                yield name, scale, scaling


def _steps_of(study: Study, workload: Workload, scale: str, scaling: str) -> int | None:
    """The most optimizer steps that a launch can have; None where it is not known before the data are read."""
    if not workload.epochs:
        measure = study.measure
        return max(measure.max_warmup_steps, measure.warmup_steps) + measure.max_steps + measure.block_steps
    samples = workload.known_train_samples
    if samples is None:
        return None
    ranks = world_size(scale) if scaling == "weak" else 1
    return workload.epochs * ceil(samples / (workload.batch_size * ranks))
