"""The causes that are named for a point: those that were found, and those that are only possible."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan

from scalestudy.analyse.statistics.intervals import Interval, less
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import UNEXPLAINED, Finding
from scalestudy.diagnose.support import is_clear

LEAST_WEIGHT = 0.005
"""Smallest weight of a possible cause that is named; a smaller one would be printed as 0.00."""


@dataclass(frozen=True)
class Named:
    """Findings of a point, other possible causes, and their weights; see Diagnosis."""

    findings: tuple[Finding, ...]
    also_possible: tuple[Finding, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)


def left_of(overhead: Interval, found: Mapping[Cause, Seen]) -> Interval:
    """Seconds of the overhead left by the causes found before size, with limits from all of them (MOVER)."""
    left = overhead
    for cause, seen in found.items():
        if cause.stage < Stage.SIZE and seen.explained_s > 0:
            shift = seen.explained_s - seen.loss_s.value
            told = seen.loss_s.map(lambda seconds, shift=shift: seconds + shift)  # type: ignore[misc]
            left = less(left, Interval(*(told.value,) * 3) if isnan(told.low) else told)
    return left


def weights_of(case: Case, causes: Mapping[Cause, Seen], rest: Cause, rest_support: float) -> dict[str, float]:
    """Weights of the causes and of the unexplained loss, by id. They add up to 1.

    A cause counts with the seconds of a step that it costs, times its support. `rest` costs the overhead that the
    causes before it leave, each multiplied by its support; rest_support is its own support, whatever they leave.
    `unexplained` is the loss, step time x (1 - efficiency), that no cause explains. A cause of unknown cost has no
    weight.
    """
    told_s = sum(seen.support * seen.explained_s for cause, seen in causes.items() if cause.stage < Stage.SIZE)
    cost_s, explained_s = {}, told_s
    for cause, seen in causes.items():
        if isnan(seen.cost_s):
            continue
        if cause is rest:
            cost_s[cause.id] = rest_support * max(0.0, seen.cost_s - told_s)
        else:
            cost_s[cause.id] = seen.support * seen.cost_s
        explained_s += cost_s[cause.id] if cause.stage == Stage.SIZE else 0.0
    loss_s = case.point["step_time_s"] * (1 - case.point["efficiency"])
    cost_s[UNEXPLAINED] = 0.0 if isnan(loss_s) else max(0.0, float(loss_s) - explained_s)
    total_s = sum(cost_s.values())
    return {id: seconds / total_s for id, seconds in cost_s.items()} if total_s > 0 else {}


def name_causes(
    case: Case,
    findings: tuple[Finding, ...],
    found: Mapping[Cause, Seen],
    possible: Mapping[Cause, Seen],
    *,
    rest: Cause,
    rest_support: float,
    order_is_open: bool,
) -> Named:
    """The findings, with weights if other causes are possible or one of the findings is near its threshold.

    found: the causes among the findings that slow the point down. possible: other causes that may do so. rest,
    rest_support: as in weights_of. order_is_open: whether it is undecided which of two found causes costs more.
    """
    while possible or order_is_open or not all(is_clear(seen.support) for seen in found.values()):
        weights = weights_of(case, {**found, **possible}, rest, rest_support)
        heavy = {cause: seen for cause, seen in possible.items() if weights.get(cause.id, 0.0) >= LEAST_WEIGHT}
        if len(heavy) < len(possible):  # the weight of those left out is shared among the others
            possible = heavy
            continue
        ordered = sorted(possible, key=lambda cause: -weights[cause.id])
        told = {finding.cause for finding in findings} | {cause.id for cause in possible}
        kept = {id: weight for id, weight in weights.items() if id in told or weight >= LEAST_WEIGHT}
        kept = {id: weight / sum(kept.values()) for id, weight in kept.items()}
        return Named(findings, tuple(cause.finding(case, possible[cause]) for cause in ordered), kept)
    return Named(findings)
