"""Limits that nothing can keep, and limits that another one comes before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.study import Study

LEAST = {"time_limit_min": (0.1, "min"), "start_limit_s": (1, "s"), "stall_limit_s": (1, "s")}
"""Key -> (least value, unit): no run starts, and no step need end, in less."""
LEAST_GIB = 0.1
"""Memory of a process before it trains: Python and torch alone have more."""
LEAST_TRIAL_HOURS = 1e-5


def wrong_limits(study: Study, content: Mapping[str, Any]) -> Iterator[str]:
    """A line for each limit that no run can keep, or that has no effect."""
    for key, (least, unit) in LEAST.items():
        if (value := getattr(study, key)) < least:
            yield f"{key}: no run can start and train within {value:g} {unit}; use {least:g} or more"
    if (gib := study.host.memory_limit_gib) is not None and gib < LEAST_GIB:
        yield f"host.memory_limit_gib: {gib:g} GiB is less than Python and torch need; use {LEAST_GIB:g} or more"
    yield from _order(study)
    yield from _trials(study)


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
    verify = study.verify
    if not verify.automatic:
        return
    if not verify.most:
        yield "verify.most: 0 with mode: auto tries nothing; use 1 or more, or leave out mode"
    if verify.budget_device_hours is not None and verify.budget_device_hours < LEAST_TRIAL_HOURS:
        yield (
            f"verify.budget_device_hours: no trial fits into {verify.budget_device_hours:g}; use the device-hours"
            " of a few runs, or leave out mode: auto"
        )


def _set(study: Study, key: str) -> bool:
    return bool(getattr(study, key) != Study.model_fields[key].default)
