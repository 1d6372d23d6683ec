"""What came of a trial: the gain within its repeats, held against what was predicted."""

from math import isnan, nan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.accuracy import compare_accuracy
from scalestudy.analyse.point.launches import by_block, by_repeat, good_launches
from scalestudy.analyse.point.protocols import of_one_protocol
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.registry.codes import AccuracyKept, Tried
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan, Point
from scalestudy.verify.model import Place, Trial, Verified

HALF = 0.5
"""Of the predicted gain: a trial that cannot have brought that much refutes the advice."""


def score(trial: Trial, plan: Plan, summary: pd.DataFrame, runs: pd.DataFrame) -> Verified:
    """plan, summary, runs: of the trial's own study."""
    (point_before, before), (point_after, after) = (
        _point(place, plan, summary) for place in (trial.before, trial.after)
    )
    of_before, of_after = (_launches(point, runs) for point in (point_before, point_after))
    if trial.after.variant == plan.study.base_of(trial.before.variant):
        speedup = Interval.of(before, "speedup")  # by the way of comparing that the study is judged by
        gain = NOTHING if isnan(speedup.value) else speedup.inverse()
    elif len(of_before) and len(of_after):
        gain = ratio_in_blocks(
            by_block(of_after, "throughput_samples_per_s"),
            by_block(of_before, "throughput_samples_per_s"),
            planned=plan.study.repeats_for_spread,
            confidence=plan.study.level,
        )
    else:
        gain = NOTHING
    difference, kept = NOTHING, AccuracyKept.NONE
    accuracies = [by_repeat(of, "validation_accuracy") for of in (of_after, of_before)]
    if all(len(one.dropna()) for one in accuracies):
        margin, level = plan.study.report.accuracy_margin, plan.study.report.confidence
        difference, kept = compare_accuracy(*accuracies, margin=margin, confidence=level)
    verdict, reason = judge(trial, gain, kept, after)
    return Verified(
        trial=trial,
        verdict=verdict,
        reason=reason,
        step_time_before_s=Interval.of(before, "step_time_s"),
        step_time_after_s=Interval.of(after, "step_time_s"),
        speedup_before=Interval.of(before, "speedup"),
        speedup_after=Interval.of(after, "speedup"),
        gain=gain,
        accuracy_before=_mean(accuracies[1]),
        accuracy_after=_mean(accuracies[0]),
        accuracy_difference=difference,
        accuracy_kept=kept,
    )


def judge(trial: Trial, gain: Interval, kept: AccuracyKept, after: pd.Series) -> tuple[Tried, str]:
    """(verdict, why).

    Confirmed: faster with the whole interval, no less accurate, and as predicted where something was: the measured
    gain is within the predicted limits, or its own interval holds the prediction. Partly: faster, but not that.
    Refuted: what it brings is below half of what was predicted, with the whole interval, or the launches after the
    advice did not come to their end. Undecided otherwise.
    """
    if not after["launches_ok"]:
        return Tried.REFUTED, f"no launch came to its end: {outcomes(after)}"
    if isnan(gain.low):
        return Tried.UNDECIDED, "there is no interval of the gain"
    predicted = NOTHING if trial.predicted is None else trial.predicted.gain
    wanted = 1.0 if isnan(predicted.value) else 1 + HALF * (predicted.value - 1)
    if gain.high < wanted:
        half = "half of what was predicted" if wanted > 1 else "no gain"
        return Tried.REFUTED, f"the upper limit of the gain is below {half}"
    if gain.low <= 1:
        return Tried.UNDECIDED, "the interval of the gain holds no gain"
    if kept == AccuracyKept.LOWER:
        return Tried.PARTLY, "it is faster and less accurate"
    if isnan(predicted.value):
        return Tried.CONFIRMED, "it is faster; nothing was predicted"
    within = not isnan(predicted.low) and predicted.low <= gain.value <= predicted.high
    if within or gain.low <= predicted.value <= gain.high:
        return Tried.CONFIRMED, "it is faster, as predicted"
    return Tried.PARTLY, "it is faster, by more" if gain.value > predicted.value else "it is faster, by less"


def _point(place: Place, plan: Plan, summary: pd.DataFrame) -> tuple[Point, pd.Series]:
    """A point of the plan, or its base case, with its row of the summary, which has the points in their order."""
    wanted = place.model_dump()
    if plan.study.variants[place.variant].strategy == "single":
        wanted |= {"nodes": 1, "devices_per_node": 1}
    rows = (row for _, row in summary.iterrows())
    return next(
        (point, row)
        for point, row in zip(plan.points, rows, strict=True)
        if all(getattr(point, name) == value for name, value in wanted.items())
    )


def _launches(point: Point, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs.csv of the launches of a point that count."""
    return of_one_protocol(good_launches(runs[runs["run_id"].isin(point.runs)]))


def _mean(values: Any) -> float:
    known = values.dropna()
    return float(known.mean()) if len(known) else nan
