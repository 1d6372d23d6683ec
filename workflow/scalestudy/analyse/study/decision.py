"""Selects the next runs: those of comparisons that are not settled, within the budget."""

from collections.abc import Iterable, Sequence

import pandas as pd

from scalestudy.analyse.point.spoiled import FEWEST
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.analyse.study.decision_file import Comparison, DecisionFile
from scalestudy.analyse.study.effort import device_time_s
from scalestudy.analyse.study.gains import MeasuredGain, gains_of
from scalestudy.registry.codes import IntervalMethod, Settled, Verdict
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan, Point

PLACE = ["workload", "variant", "nodes", "devices_per_node", "batch_per_rank"]
"""Columns of runs.csv, and fields of a spec, that identify the runs of one configuration."""


def decide(
    plan: Plan, runs: pd.DataFrame, summary: pd.DataFrame, *, after: int, bound_device_hours: float | None = None
) -> DecisionFile:
    """Returns the decision after a number of repeats.

    runs, summary: of the runs up to these repeats. bound_device_hours: a bound on all runs in addition to the
    study's; the smaller one applies.
    """
    study = plan.study
    bounds = [hours for hours in (study.measure.budget_device_hours, bound_device_hours) if hours is not None]
    budget_device_hours = min(bounds, default=None)
    compared = [
        (point, _comparison(study, row, after, gains_of(plan, point, runs)))
        for point, row in _compared(plan, summary)
    ]
    open_points = [point for point, comparison in compared if comparison.settled == Settled.NO]
    last = min((number for number in study.decisions if number > after), default=study.most_repeats)
    wanted = _launches(plan, open_points, range(after + 1, last + 1))
    allowed = last
    if wanted and budget_device_hours is not None:
        left_s = budget_device_hours * 3600 - float(device_time_s(runs).sum())
        allowed = min(last, after + max(0, int(left_s // _repeat_s(plan, runs, wanted, after + 1))))
    needed = tuple(run for run in wanted if plan.runs[run].repeat <= allowed)
    return DecisionFile(
        study=study.name,
        after_repeats=after,
        comparisons=tuple(comparison for _, comparison in compared),
        needed=needed,
        without_probes=_probed_enough(plan, runs, needed),
        budget_device_hours=budget_device_hours,
        budget_ends_after=allowed if allowed < last else None,
    )


def _compared(plan: Plan, summary: pd.DataFrame) -> Iterable[tuple[Point, pd.Series]]:
    """Returns points that have a speedup, with their rows of the summary, which has one row per point."""
    rows = (row for _, row in summary.iterrows())
    for point, row in zip(plan.points, rows, strict=True):
        if point.is_compared:
            yield point, row


def _comparison(study: Study, row: pd.Series, after: int, gains: Sequence[MeasuredGain]) -> Comparison:
    speedup = Interval.of(row, "speedup")
    verdict = verdict_of(speedup, ranks=int(row["world_size"]), report=study.report)
    settled, gain = Settled.NO, NOTHING
    replaced = _is_replaced(study, row)
    if gains:
        if after in study.looks:
            gains = sorted(gains, key=lambda one: list(Settled).index(one.settled(study)))
            settled = Settled.NO if replaced else gains[0].settled(study)
        gain = gains[0].gain
    elif after in study.looks:
        # If no run had memory for the turns, further runs would not have it either.
        without_turns = row["launches_without_turns"] and row["interval"] != IntervalMethod.T_WITHIN_LAUNCHES
        if row["repeats_compared"] < FEWEST or (study.measure.speedup_within == "launches" and without_turns):
            settled = Settled.FAILED
        elif replaced:
            settled = Settled.NO
        elif verdict != Verdict.UNDECIDED:
            settled = Settled.DECIDED
        elif speedup.relative_half_width <= study.measure.half_width:
            settled = Settled.PRECISE
    return Comparison(
        **{name: row[name] for name in ("workload", "variant", "scaling", "world_size", "batch_per_rank")},
        repeats_compared=int(row["repeats_compared"]),
        repeats_spoiled=int(row["repeats_spoiled"]),
        **speedup.columns("speedup"),
        **gain.columns("gain"),
        verdict=verdict,
        settled=settled,
    )


def _is_replaced(study: Study, row: pd.Series) -> bool:
    """Returns whether further repeats replace disturbed ones: fewer are left than the initial number of repeats.

    This depends only on readings of the host, and on no measured time.
    """
    short = row["repeats_clean"] < study.repeats
    return bool(study.measure.replace_spoiled and row["repeats_spoiled"] and short)


def _launches(plan: Plan, points: Iterable[Point], repeats: range) -> list[str]:
    """Returns the runs that the speedups of these points consist of, in these repeats; in the order of the plan.

    Up to `repeats` of the study these are all runs: an earlier decision depends only on the budget.
    """
    serving, first = plan.serving(points), plan.study.repeats
    return [
        run
        for run, spec in plan.runs.items()
        if spec.repeat in repeats and (run in serving or spec.repeat <= first)
    ]


def _repeat_s(plan: Plan, runs: pd.DataFrame, wanted: Iterable[str], repeat: int) -> float:
    """Returns the device-seconds of one repeat of the wanted runs, from the mean of the repeats before it."""
    made = runs[runs["outcome"] != "unneeded"]
    mean = device_time_s(made).fillna(0.0).groupby([made[name] for name in PLACE]).mean()
    specs = [plan.runs[run] for run in wanted if plan.runs[run].repeat == repeat]
    return float(sum(mean[tuple(getattr(spec, name) for name in PLACE)] for spec in specs))


def _probed_enough(plan: Plan, runs: pd.DataFrame, needed: Iterable[str]) -> tuple[str, ...]:
    """Returns the needed runs whose communication was already probed by as many runs as the study has repeats."""
    enough = max(FEWEST, plan.study.repeats)
    probed = runs[runs["differential_s"].notna()].groupby(PLACE).size()
    known = {place for place, launches in probed.items() if launches >= enough}
    return tuple(run for run in needed if tuple(getattr(plan.runs[run], name) for name in PLACE) in known)
