"""Limits that nothing can keep, and limits that another one comes before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.meaning.facts import default_of, distributed, value_of
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study

LEAST = {"time_limit_min": (0.1, "min"), "start_limit_s": (3, "s"), "stall_limit_s": (1, "s")}
"""Key -> (least value, unit): no run starts, and no step need end, in less. Before a node reports, the scheduler
starts a shell and Python there, one or two seconds on an idle node."""
LEAST_GIB = 0.1
"""Memory of a process before it trains: Python and torch alone have more."""
LEAST_TRIAL_HOURS, LEAST_BUDGET_HOURS = 1.5e-3, 3e-4
"""5.4 s of a device, in which no two runs of two ranks start, and 1.1 s, in which no repeat of two runs does."""
LEAST_STEP_S = 5e-5
"""A step of any training takes longer: its calls of Python and torch alone do."""
LEAST_HALF_WIDTH = 1e-5
"""A microsecond of a step of 0.1 s."""
MOST_CORES = 1024
"""More than any node has: 16 processors of 60 cores are 960."""
MOST_MARGIN = 0.25
MOST_CONFIDENCE = 0.9999
"""Beyond this the tails of the distribution matter, and no few repeats show them."""


def wrong_limits(study: Study, content: Mapping[str, Any]) -> Iterator[str]:
    """A line for each limit that no run can keep, or that has no effect."""
    for key, (least, unit) in LEAST.items():
        if (value := getattr(study, key)) < least:
            yield f"{key}: no run can start and train within {value:g} {unit}; use {least:g} or more"
    if (gib := study.host.memory_limit_gib) is not None and gib < LEAST_GIB:
        yield f"host.memory_limit_gib: {gib:g} GiB is less than Python and torch need; use {LEAST_GIB:g} or more"
    yield from _cores(study)
    yield from _order(study)
    yield from _trials(study)
    yield from _budget(study)
    yield from _steps(study)
    yield from _precision(study)


def _cores(study: Study) -> Iterator[str]:
    """More cores than a node has, where every rank is bound to its own."""
    cores, scales = study.host.cores_per_rank, study.scales if distributed(study) else ("1x1",)
    widest = max(scales, key=lambda scale: nodes_and_devices(scale)[1])
    ranks = nodes_and_devices(widest)[1]
    if study.host.pin and cores is not None and cores * ranks > MOST_CORES:
        yield (
            f"host.cores_per_rank: {cores} for each of the {ranks} ranks of a node at scale {widest} are"
            f" {cores * ranks} cores, more than any node has; use {MOST_CORES // ranks} or fewer, or pin: false"
        )


def _order(study: Study) -> Iterator[str]:
    minutes = study.time_limit_min
    if _set(study, "allocation_limit_min") and study.allocation_limit_min < minutes:
        yield (
            f"allocation_limit_min: a job of {study.allocation_limit_min:g} min is too short for a run of"
            f" time_limit_min: {minutes:g}; raise it to {minutes:g} or more, or lower time_limit_min"
        )
    for key in ("stall_limit_s", "start_limit_s"):
        if _set(study, key) and getattr(study, key) > 60 * minutes >= 60 * LEAST["time_limit_min"][0]:
            yield (
                f"{key}: {getattr(study, key):g} s are never reached, since time_limit_min: {minutes:g} ends a run"
                " before; lower it, or leave it out"
            )


def _trials(study: Study) -> Iterator[str]:
    verify, hours = study.verify, study.verify.budget_device_hours
    if not verify.automatic and not verify.most:
        if hours:
            yield (
                f"verify.budget_device_hours: {hours:g} has no effect with most: 0, which tries nothing; leave out"
                " one of them"
            )
        return
    if not verify.most:
        yield "verify.most: 0 with mode: auto tries nothing; use 1 or more, or leave out mode"
    if hours is not None and hours < LEAST_TRIAL_HOURS:
        instead = "leave out mode: auto" if verify.automatic else "leave it out"
        yield (
            f"verify.budget_device_hours: no trial fits into {hours:g}; use the device-hours of a few runs, or"
            f" {instead}"
        )


def _budget(study: Study) -> Iterator[str]:
    hours = study.measure.budget_device_hours
    if hours is not None and hours < LEAST_BUDGET_HOURS:
        yield (
            f"measure.budget_device_hours: {hours:g} is less than any run takes; use the device-hours of a few"
            " repeats, or repeats: 1"
        )


def _steps(study: Study) -> Iterator[str]:
    """Numbers of steps of runs that end when they have measured enough."""
    measure = study.measure
    if all(one.epochs for one in study.workloads.values()):
        return
    least = measure.warmup_steps + measure.min_steps
    if least * LEAST_STEP_S > 60 * study.time_limit_min:
        yield (
            f"measure.min_steps: {least} steps with the warm-up take more than time_limit_min:"
            f" {study.time_limit_min:g} even at {LEAST_STEP_S * 1e6:g} microseconds each; use fewer, or more time"
        )
    # Without the key, a study of few steps, as for a trial, takes the default.
    if "block_steps" in measure.model_fields_set and measure.block_steps > measure.max_steps:
        yield (
            f"measure.block_steps: {measure.block_steps} is more than max_steps: {measure.max_steps}, and a run"
            f" ends after a whole block; use {measure.max_steps} or fewer"
        )


def _precision(study: Study) -> Iterator[str]:
    """Half-widths, margins and levels with which every comparison, or none, is decided."""
    for key in ("measure.half_width", "measure.launch_half_width"):
        if (value := value_of(study, key)) is not None and value < LEAST_HALF_WIDTH:
            yield (
                f"{key}: {value:g} is narrower than any step time is known; it is a fraction of the value, so use"
                f" {LEAST_HALF_WIDTH:g} or more, such as 0.01"
            )
    for key in ("report.target_margin", "report.accuracy_margin"):
        if (value := value_of(study, key)) >= MOST_MARGIN:
            yield (
                f"{key}: {value:g} counts almost every difference as none; it is a fraction, so use less than"
                f" {MOST_MARGIN:g}, such as {default_of(key):g}"
            )
    if (level := study.report.confidence) > MOST_CONFIDENCE:
        yield (
            f"report.confidence: {shown(level)} is more certain than any number of repeats can be; use"
            f" {MOST_CONFIDENCE:g} or less, such as {default_of('report.confidence'):g}"
        )


def _set(study: Study, key: str) -> bool:
    return bool(getattr(study, key) != Study.model_fields[key].default)
