"""The fewest further runs of an imported study that would decide its verdicts, and their device-hours.

Imported runs are independent samples, so the interval is Welch's. With n runs on each side and a spread s of the
logarithm of throughput its half-width is t sqrt(2 / n) s. The speedup is taken to be what it is now.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isnan, sqrt

import numpy as np
import pandas as pd

from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.run.imported import length_is_known
from scalestudy.analyse.statistics.intervals import Interval, t_quantile
from scalestudy.analyse.study.effort import device_time_s
from scalestudy.analyse.study.outlook import SPREAD
from scalestudy.registry.codes import Verdict
from scalestudy.study.plan import Plan, Point

MOST = 20
"""Runs of a point beyond which none are advised: the speedup is then too close to its target."""
FEWEST = 2
"""Runs of each side from which there is an interval."""


@dataclass(frozen=True)
class Further:
    """Runs to add at one place, the baseline or a point."""

    point: Point
    is_base: bool
    known: int
    """Runs that there are."""
    more: int
    """Runs that are missing; 0 if the verdict is decided."""
    device_hours: float
    """Of these; nan if no run shows how long one takes."""
    reachable: bool
    """Whether MOST runs would decide it, if its speedup and the spread are what they are now."""


@dataclass(frozen=True)
class FurtherRuns:
    """The further runs of a study, baselines first."""

    places: tuple[Further, ...]
    spread: float
    """Standard deviation of the logarithm of throughput between runs."""
    assumed: bool
    """Whether no point has two runs, so that the spread is assumed."""

    @property
    def more(self) -> int:
        return sum(place.more for place in self.places)

    @property
    def device_hours(self) -> float:
        return sum(place.device_hours for place in self.places)


def further_runs(plan: Plan, summary: pd.DataFrame, runs: pd.DataFrame) -> FurtherRuns:
    """Return the further runs of an imported study. summary, runs: its tables."""
    rates = runs.set_index("run_id")["throughput_samples_per_s"].dropna()
    known = runs["limits"].map(length_is_known).astype(bool)
    hours = (device_time_s(runs).where(known) / 3600).groupby(runs["run_id"]).first()
    spread, assumed = _spread([[rates[run] for run in point.runs if run in rates.index] for point in plan.points])
    bases: dict[tuple[str, ...], tuple[Point, int]] = {}
    places = []
    for point, (_, row) in zip(plan.points, summary.iterrows(), strict=True):
        if not point.is_compared or isnan(row["speedup"]):
            continue
        needed = _needed(plan, row, spread)
        here = len(point.runs)
        count = needed if needed is not None else 0
        places.append(_place(point, False, here, max(0, count - here), hours, needed is not None))
        base = next(other for other in plan.points if other.runs == point.base)
        most = max(bases.get(point.base, (base, 0))[1], count)
        bases[point.base] = (base, most)
    first = [
        _place(base, True, len(base.runs), max(0, count - len(base.runs)), hours, True)
        for base, count in bases.values()
    ]
    return FurtherRuns(places=(*first, *places), spread=spread, assumed=assumed)


def _place(point: Point, is_base: bool, known: int, more: int, hours: pd.Series, reachable: bool) -> Further:
    each = float(hours[[run for run in point.runs if run in hours.index]].mean())
    return Further(point, is_base, known, more, more * each if more else 0.0, reachable)


def _spread(groups: list[list[float]]) -> tuple[float, bool]:
    """(pooled standard deviation of logarithms, whether it is assumed because no group has two)."""
    logs = [np.log(group) for group in groups if len(group) >= FEWEST]
    if not logs:
        return SPREAD, True
    squares, freedom = (
        sum(float(((one - one.mean()) ** 2).sum()) for one in logs),
        sum(len(one) - 1 for one in logs),
    )
    return sqrt(squares / freedom), False


def _needed(plan: Plan, row: pd.Series, spread: float) -> int | None:
    """Runs of each side that decide a verdict; the fewer of both sides if it is decided now; None if MOST do
    not."""
    ranks = row["world_size"] / row["base_world_size"]
    now = Interval.of(row, "speedup").scaled(1 / row["base_world_size"])
    report, half_width = plan.study.report, plan.study.measure.half_width

    def decided(speedup: Interval) -> bool:
        if isnan(speedup.low):
            return False
        return verdict_of(speedup, ranks=ranks, report=report) != Verdict.UNDECIDED or (
            speedup.relative_half_width <= half_width
        )

    if decided(now):
        return int(row["repeats_compared"])
    for count in range(max(FEWEST, int(row["repeats_compared"])), MOST + 1):
        half = t_quantile(plan.study.level, 2 * count - 2) * sqrt(2 / count) * spread
        if decided(Interval(now.value, now.value * exp(-half), now.value * exp(half))):
            return count
    return None
