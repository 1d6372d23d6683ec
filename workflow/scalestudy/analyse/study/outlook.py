"""Predicted cost of a study with `until: decided`, and the expected result of its next runs.

Futures are simulated. For every comparison, a mean and a spread of the logarithm of its speedup within repeats are
drawn that are consistent with the runs so far; then further repeats are drawn and judged at the looks of the
study, as the real ones will be. For a setting in `measure.gains` the logarithm of that gain is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, log, nan, sqrt

import numpy as np
from scipy.special import stdtrit

from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.analyse.study.decision_file import Comparison
from scalestudy.registry.codes import Settled
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan, Point

FUTURES = 4000
# Assumptions for a comparison before it was measured: an efficiency anywhere between these values, and a
# run-to-run spread of the logarithm with this median, within this factor of it in nine of ten cases.
EFFICIENCY = (0.3, 1.0)
GAIN = (0.8, 2.0)
"""The same range for the gain of one setting over another."""
SPREAD, SPREAD_FACTOR = 0.03, 4.0


@dataclass(frozen=True)
class Next:
    """The expected effect of the runs up to the next look on a comparison."""

    comparison: Comparison
    repeats: int
    """Total number, at the next look."""
    quantity: str
    """The quantity to decide: `speedup`, or `gain` if `measure.gains` compares two settings."""
    half_width: float
    """Its relative half-width now; nan if unknown."""
    half_width_then: float
    """Median of the expected half-width then."""
    decided: float
    """Probability that it is settled then."""


@dataclass(frozen=True)
class Outlook:
    """Expected values: medians with 90 % prediction intervals."""

    launches: Interval
    """Total number, including completed runs."""
    device_hours: Interval
    """Total, including devices that a job left idle; nan if no run has shown how long one takes."""
    idle_device_hours: float
    """The idle devices' part of these, median; nan if they are."""
    settled: float
    """Probability that every comparison is settled before `max_repeats`."""
    next: tuple[Next, ...]
    """For comparisons that are open."""


def outlook(
    plan: Plan,
    known: Sequence[Comparison],
    *,
    after: int,
    device_s: Mapping[str, float],
    idle_s: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Outlook:
    """Returns the outlook of a plan with `measure.until: decided`, without its budget of device-hours.

    known: comparisons as decided after `after` repeats, in the order of the plan's; none before the first
    decision. device_s: device-seconds of a run of the configuration of a run, by run id; a mean over measured
    runs. idle_s: the part of these on devices that its job left idle; none by default.
    """
    study, random = plan.study, np.random.default_rng(seed)
    points = [point for point in plan.points if point.is_compared]
    first = [run for run, spec in plan.runs.items() if spec.repeat == 1]
    ends = {run: np.full(FUTURES, study.repeats) for run in first}
    settled, coming = np.ones(FUTURES, dtype=bool), []
    for index, point in enumerate(points):
        comparison = known[index] if known else None
        end, done = _futures(study, point, comparison, after, random)
        settled &= done[-1] >= 0
        for run in plan.serving([point]) & ends.keys():
            ends[run] = np.maximum(ends[run], end)
        if comparison is not None and comparison.settled == Settled.NO:
            coming.append(_next(study, comparison, after, done))
    launches = np.sum(list(ends.values()), axis=0)
    hours = _device_hours(ends, device_s) if device_s else None
    return Outlook(
        launches=_middle(launches),
        device_hours=Interval(nan) if hours is None else _middle(hours),
        idle_device_hours=nan if hours is None else float(np.median(_device_hours(ends, idle_s or {}))),
        settled=float(settled.mean()),
        next=tuple(coming),
    )


def _device_hours(ends: Mapping[str, np.ndarray], device_s: Mapping[str, float]) -> np.ndarray:
    """Returns, per future, the total for the repeats of each run; a run that is not given takes nothing."""
    return sum((end * device_s.get(run, 0.0) / 3600 for run, end in ends.items()), np.zeros(FUTURES))


def _middle(values: np.ndarray) -> Interval:
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    return Interval(float(median), float(low), float(high))


def _futures(
    study: Study, point: Point, comparison: Comparison | None, after: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (total repeats per future; the same as known at every future look, -1 if it is not settled then)."""
    if comparison is not None and comparison.settled != Settled.NO:
        end = np.full(FUTURES, comparison.repeats_compared)
        return end, end[None]
    mean, spread, had, had_sum, had_squares = _believed(study, point, comparison, random)
    looks = [look for look in study.looks if look > after or comparison is None]
    steps = random.standard_normal((FUTURES, study.most_repeats - had)) * spread[:, None] + mean[:, None]
    done = np.full((len(looks), FUTURES), -1)
    for index, look in enumerate(looks):
        new = steps[:, : look - had]
        total, squares = had_sum + new.sum(axis=1), had_squares + (new**2).sum(axis=1)
        middle = total / look
        deviation = np.sqrt(np.maximum(squares - look * middle**2, 0) / (look - 1))
        half = float(stdtrit(look - 1, 0.5 + study.level / 2)) * deviation / sqrt(look)
        now = _is_settled(study, point, middle - half, middle + half)
        before = done[index - 1] if index else np.full(FUTURES, -1)
        done[index] = np.where(before >= 0, before, np.where(now, look, -1))
    return np.where(done[-1] >= 0, done[-1], study.most_repeats), done


def _believed(
    study: Study, point: Point, comparison: Comparison | None, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int, float, float]:
    """Returns (means and spreads of the logarithm for the futures, existing repeats, their sum and sum of
    squares).

    For measured comparisons from the posterior with an uninformative prior: the spread by chi-square, the mean
    around the measured one.
    """
    known = NOTHING if comparison is None else _judged(study, comparison)
    if comparison is None or isnan(known.low):
        if _quantity(study, point) == "gain":
            likely = random.uniform(*GAIN, FUTURES)
        else:
            likely = random.uniform(*EFFICIENCY, FUTURES) * point.world_size
        wide = log(SPREAD_FACTOR) / 1.645
        return np.log(likely), SPREAD * np.exp(wide * random.standard_normal(FUTURES)), 0, 0.0, 0.0
    had, mean = comparison.repeats_compared, log(known.value)
    half = known.relative_half_width
    deviation = half * sqrt(had) / float(stdtrit(had - 1, 0.5 + study.level / 2))
    spread = deviation * np.sqrt((had - 1) / random.chisquare(had - 1, FUTURES))
    means = mean + spread / sqrt(had) * random.standard_normal(FUTURES)
    return means, spread, had, had * mean, (had - 1) * deviation**2 + had * mean**2


def _quantity(study: Study, place: Point | Comparison) -> str:
    """Returns the quantity to decide for a point: `gain` if `measure.gains` compares it, else `speedup`."""
    compared = any(gain.compares(place.workload, place.variant) for gain in study.measure.gains)
    return "gain" if compared else "speedup"


def _judged(study: Study, comparison: Comparison) -> Interval:
    """Returns the current value of that quantity of a comparison."""
    name = _quantity(study, comparison)
    return Interval(*(getattr(comparison, f"{name}{end}") for end in ("", "_low", "_high")))


def _is_settled(study: Study, point: Point, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Judges logarithms of limits as point/verdict.py, study/decision.py and study/gains.py do."""
    settled: np.ndarray = (high - low) / 2 <= study.measure.half_width
    if _quantity(study, point) == "gain":
        return settled | (high < 0) | (low > 0)
    efficiency = compounded_efficiency(study.report.target_efficiency, point.world_size)
    target, margin = log(efficiency * point.world_size), study.report.target_margin
    near = (low >= target + log(1 - margin)) & (high <= target + log(1 + margin))
    return settled | (high < 0) | ((low > 0) & ((low >= target) | near)) | (high < target)


def _next(study: Study, comparison: Comparison, after: int, done: np.ndarray) -> Next:
    now = _judged(study, comparison).relative_half_width
    look, had = min(look for look in study.looks if look > after), comparison.repeats_compared
    narrower = nan
    if had > 1:
        before, then = (float(stdtrit(n - 1, 0.5 + study.level / 2)) / sqrt(n) for n in (had, look))
        narrower = now * then / before
    return Next(comparison, look, _quantity(study, comparison), now, narrower, float((done[0] >= 0).mean()))
