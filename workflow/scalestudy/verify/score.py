"""The result of a trial: the gain within its repeats, compared with the prediction."""

from collections.abc import Mapping
from math import isnan
from typing import NamedTuple

import pandas as pd

from scalestudy.analyse.point.accuracy import compare_accuracy
from scalestudy.analyse.point.gain import counted_launches, throughput_gain
from scalestudy.analyse.point.launches import by_repeat, launches_of
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, mean_on_logs, product
from scalestudy.registry.codes import AccuracyKept, Goal, Stopped, Tried
from scalestudy.registry.column import ENDS, Column
from scalestudy.registry.verified import EPOCH_TIME, TIME_TO_ACCURACY, TRIED
from scalestudy.registry.words.points import ends, outcomes
from scalestudy.study.plan import Plan, Point
from scalestudy.verify.model import Compared, Place, Side, Trial, Verified

HALF = 0.5
"""Share of the predicted gain; a trial whose whole interval is below it refutes the advice."""


class _Measured(NamedTuple):
    """A point of a trial: its entry in the plan, its row of the summary, and its runs that count."""

    point: Point
    row: pd.Series
    launches: pd.DataFrame


def score(trial: Trial, plan: Plan, summary: pd.DataFrame, runs: pd.DataFrame, epochs: pd.DataFrame) -> Verified:
    """The verdict on a trial, with its measurements. plan, summary, runs, epochs: of the trial's own study."""
    before, after = (_measured(place, plan, summary, runs) for place in (trial.before, trial.after))
    gain = _gain(trial, plan, before, after)
    difference, kept = NOTHING, AccuracyKept.NONE
    accuracies = [by_repeat(side.launches, "validation_accuracy") for side in (after, before)]
    if len((accuracies[0] - accuracies[1]).dropna()):
        margin, level = plan.study.report.accuracy_margin, plan.study.report.confidence
        difference, kept = compare_accuracy(*accuracies, margin=margin, confidence=level)
    verdict, reason = judge(trial, gain, kept, after.row, goal=Goal(plan.study.report.goal))
    if verdict == Tried.UNDECIDED and (repeats := _ended_after(plan, before, after)):
        reason = f"the budget ended after {repeats} {'repeat' if repeats == 1 else 'repeats'}, and {reason}"
    found = [_quantities(side, plan, epochs) for side in (before, after)]
    predicted = _predicted(trial, found[0])
    return Verified(
        trial=trial,
        verdict=verdict,
        reason=reason,
        gain=gain,
        quantities={
            name: Compared(before=of_before, predicted=predicted.get(name, NOTHING), after=found[1][name])
            for name, of_before in found[0].items()
        },
        accuracy_difference=difference,
        accuracy_kept=kept,
        before=_side(before),
        after=_side(after),
    )


def _ended_after(plan: Plan, *sides: _Measured) -> int:
    """Number of repeats of both sides if the budget of device-hours ended the trial; 0 if it did not."""
    launched = min(int(side.row["launches"]) for side in sides)
    cut = launched < plan.study.repeats or any(
        side.row["stopped_because"] == Stopped.HOURS_ENDED for side in sides
    )
    return launched if cut else 0


def _gain(trial: Trial, plan: Plan, before: _Measured, after: _Measured) -> Interval:
    """Throughput after over throughput before."""
    if trial.after.variant == plan.study.base_of(trial.before.variant):
        speedup = Interval.of(before.row, "speedup")  # compared in the same way as the study's speedups
        return NOTHING if isnan(speedup.value) else speedup.inverse()
    return throughput_gain(before.launches, after.launches, plan.study)


def judge(
    trial: Trial,
    gain: Interval,
    kept: AccuracyKept,
    after: pd.Series,
    *,
    goal: Goal = Goal.THROUGHPUT,
) -> tuple[Tried, str]:
    """(verdict, reason). If the goal is cost per sample, gains are in device-time per sample.

    Confirmed: the whole interval shows a gain, accuracy is not shown to be lower, and the gain agrees with the
    prediction, if there is one (`agree`). Partly: there is a gain, but not the other conditions. An accuracy that
    was not measured is not judged. Refuted: the whole interval is below half of the predicted gain and disagrees
    with the prediction; or no run after the change completed. Undecided otherwise.
    """
    if not after["launches_ok"]:
        return Tried.REFUTED, f"no run completed: {outcomes(after)}"
    if isnan(gain.low):
        return Tried.UNDECIDED, "the gain has no interval"
    predicted = NOTHING if trial.predicted is None else trial.predicted.gain
    faster, what = "faster", "gain"
    if goal == Goal.COST_PER_SAMPLE:
        ranks = [place.nodes * place.devices_per_node for place in (trial.before, trial.after)]
        gain, predicted = (one.scaled(ranks[0] / ranks[1]) for one in (gain, predicted))
        faster, what = "cheaper", "gain per device-hour"
    # A slower step may be predicted if a sample is worth more there. Such a step does not count as a gain.
    wanted = 1.0 if isnan(predicted.value) else max(1.0, 1 + HALF * (predicted.value - 1))
    met = not isnan(predicted.value) and gain.low > 1 and agree(gain, predicted)
    if gain.high < wanted and not met:
        half = f"half of the predicted {what}" if wanted > 1 else "1 (no gain)"
        return Tried.REFUTED, f"the upper limit of the {what} is below {half}"
    if gain.low <= 1:
        return Tried.UNDECIDED, f"the interval of the {what} includes 1 (no gain)"
    if kept == AccuracyKept.LOWER:
        return Tried.PARTLY, f"it is {faster} and less accurate"
    if isnan(predicted.value):
        return Tried.CONFIRMED, f"it is {faster}; nothing was predicted"
    if met:
        return Tried.CONFIRMED, f"it is {faster}, as predicted"
    more = gain.value > predicted.value
    return Tried.PARTLY, f"it is {faster}, by {'more' if more else 'less'} than predicted"


def agree(gain: Interval, predicted: Interval) -> bool:
    """Whether a measured gain agrees with a predicted one: the interval of their ratio includes 1.

    Both are estimates, so the limits of both are added in quadrature on the logarithmic scale.
    """
    if isnan(predicted.low):
        return gain.low <= predicted.value <= gain.high
    return not product(gain, predicted.inverse()).leaves_out(1)


def _measured(place: Place, plan: Plan, summary: pd.DataFrame, runs: pd.DataFrame) -> _Measured:
    """A point of the plan, or its baseline. The rows of the summary are in the order of the points."""
    wanted = place.model_dump()
    if plan.study.variants[place.variant].strategy == "single":
        wanted |= {"nodes": 1, "devices_per_node": 1}
    rows = (row for _, row in summary.iterrows())
    point, row = next(
        (point, row)
        for point, row in zip(plan.points, rows, strict=True)
        if all(getattr(point, name) == value for name, value in wanted.items())
    )
    return _Measured(point, row, counted_launches(runs, point.runs))


def _quantities(side: _Measured, plan: Plan, epochs: pd.DataFrame) -> dict[str, Interval]:
    """The measured quantities of a side, by the names of the columns in registry/verified.py."""
    of_rows = {column.name: _of_row(side.row, column) for column in TRIED if column is not EPOCH_TIME}
    found = of_rows | {EPOCH_TIME.name: _epoch_time(side, plan, epochs)}
    return {column.name: found[column.name] for column in TRIED}


def _of_row(row: pd.Series, column: Column) -> Interval:
    return Interval(*(float(row[f"{column.name}{end}"]) for end in ("", *ENDS[column.limits])))


def _epoch_time(side: _Measured, plan: Plan, epochs: pd.DataFrame) -> Interval:
    """Seconds per epoch; NOTHING if a run has no epochs, such as a run that ends when its step time is known."""
    mean_s = epochs.groupby("run_id")["epoch_time_s"].mean()
    times_s = side.launches.assign(epoch_time_s=side.launches["run_id"].map(mean_s).astype(float))
    if not len(times_s) or not (times_s["epoch_time_s"] > 0).all():
        return NOTHING
    return mean_on_logs(launches_of(times_s, "epoch_time_s", plan.study), confidence=plan.study.level)


def _predicted(trial: Trial, before: Mapping[str, Interval]) -> dict[str, Interval]:
    """The predictions of the diagnosis. For an epoch: its time before over the predicted gain. For the time to an
    accuracy: the time before over the predicted progress."""
    told = trial.predicted
    if told is None:
        return {}
    found = {name: getattr(told, name) for name in ("step_time_s", "speedup", "efficiency")}
    if not isnan(told.gain.value):
        found[EPOCH_TIME.name] = told.gain.inverse(before[EPOCH_TIME.name].value)
    if not isnan(told.progress.value):
        found[TIME_TO_ACCURACY.name] = told.progress.inverse(before[TIME_TO_ACCURACY.name].value)
    return found


def _side(side: _Measured) -> Side:
    point, row = side.point, side.row
    return Side(
        world_size=point.world_size,
        batch_per_rank=point.batch_per_rank,
        global_batch=point.global_batch,
        ends=ends(row),
        interval=row["interval"],
        runs=point.runs,
        base_runs=point.base,
    )
