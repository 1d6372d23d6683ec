"""The smallest difference that a study can show: every baseline is run twice (A/A test), with `measure.floor`.

Source: Kohavi, Tang and Xu (2020), "Trustworthy Online Controlled Experiments", chapter 19 (A/A tests).
"""

from collections.abc import Iterator
from math import expm1, isnan, log, log1p, nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.point.launches import among, by_repeat, good_launches
from scalestudy.analyse.point.protocols import comparable_with, of_one_protocol
from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.analyse.point.spoiled import kept_together
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.blocks import differences, ratio_in_blocks, shared_variance
from scalestudy.analyse.statistics.intervals import NOTHING, ROUNDING, Interval, Sample, shows
from scalestudy.analyse.statistics.power import smallest_shown, spread
from scalestudy.registry.codes import Claim, IntervalMethod, Shows, Verdict
from scalestudy.registry.column import Row
from scalestudy.registry.points import FLOOR_COLUMNS
from scalestudy.study.config.report import Report
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan
from scalestudy.study.twins import Twin

COLUMNS = [name for column in FLOOR_COLUMNS for name in column.names]
FEWEST_FREEDOM = 3
"""Degrees of freedom from which the limits of a spread are informative."""
DECIDED = (Verdict.HEALTHY, Verdict.POOR)
"""Verdicts that place a point on one side of the target efficiency."""


def floors_frame(plan: Plan, runs: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per twin of the plan, with the columns of registry/points.py. runs: runs.csv.

    Twins are compared with their baselines as any two points are: within repeats, on logarithms. This difference
    is only noise. Its spread within repeats gives the smallest true difference whose interval, with this number of
    repeats, excludes 0 with a probability of 80 %, and the same after `max_repeats`. With fewer than two repeats
    that have both runs, these are nan.
    """
    if not plan.twins:
        return pd.DataFrame(columns=COLUMNS)
    good = good_launches(runs).set_index("run_id")
    return pd.DataFrame([_row(twin, good, plan.study) for twin in plan.twins], columns=COLUMNS)


def _row(twin: Twin, good: pd.DataFrame, study: Study) -> dict[str, Any]:
    first = of_one_protocol(among(good, twin.base))
    first, second = kept_together(first, comparable_with(first, among(good, twin.runs)), study)
    again, once = (by_repeat(launches, "step_time_s") for launches in (second, first))
    planned, level = study.repeats_for_spread, study.level
    within = differences(np.log(again), np.log(once), planned=planned, rounding=ROUNDING)
    count, most = len(within.values), len(twin.runs)
    ratio = ratio_in_blocks(again, once, planned=planned, confidence=level) if count else NOTHING
    noise = spread(within, confidence=level)
    now = then = NOTHING
    if within.freedom >= 1:
        at_most = most - 1 if most <= planned else within.freedom
        now, then = (
            _limited(smallest_shown(noise, count=repeats, freedom=freedom, confidence=level), within).map(expm1)
            for repeats, freedom in ((count, within.freedom), (most, at_most))
        )
    return {
        **{name: getattr(twin, name) for name in ("workload", "variant", "batch_per_rank")},
        "repeats_compared": count,
        **ratio.map(lambda value: value - 1).columns("step_time_difference"),
        "half_width": nan if isnan(ratio.low) else ratio.relative_half_width,
        "shows": shows(ratio, than=1, below=Shows.FASTER, above=Shows.SLOWER),
        **now.columns("smallest_difference"),
        "most_repeats": most,
        **then.columns("smallest_difference_at_most"),
        **shared_variance(again, once, confidence=level).columns("shared_variance"),
    }


def _limited(smallest: Interval, within: Sample) -> Interval:
    """Removes uninformative limits: with three repeats they reach from 1/3 to hundreds of times the value.

    smallest: on the log scale. After two repeats on a busy host, its upper limit as a ratio may exceed any float.
    """
    return smallest if within.freedom >= FEWEST_FREEDOM else Interval(smallest.value)


def floor_of(row: Row, floors: pd.DataFrame) -> pd.Series | None:
    """Returns the row of floors.csv for the baseline of a row of the summary, if it has a smallest difference."""
    mine = floors[(floors["workload"] == row["workload"]) & (floors["variant"] == row["base_variant"])]
    return mine.iloc[0] if len(mine) and not isnan(mine["smallest_difference"].iloc[0]) else None


def is_below(ratio: float, smallest: float) -> bool:
    """Returns whether a ratio is closer to 1 than the smallest difference, a fraction; never if that is nan."""
    return abs(log(ratio)) < log1p(smallest)


def claims_below(row: Row, smallest: float, report: Report) -> Iterator[Claim]:
    """Returns differences that the intervals of a row of the summary show although they are smaller than
    `smallest`.

    smallest: a fraction; the distance is taken on logarithms. Fewer than 4 of 5 studies would show such a
    difference, and those that do overstate it on average. Source: Gelman and Carlin (2014), Perspectives on
    Psychological Science 9 (type M error).
    """
    for claim, ratio in _claims(row, report):
        if is_below(ratio, smallest):
            yield claim


def _claims(row: Row, report: Report) -> Iterator[tuple[Claim, float]]:
    """Yields (reference of a claimed difference, ratio to it), for differences between runs, as with twins."""
    speedup, relative = (Interval.of(row, name) for name in ("speedup", "relative_throughput"))
    of_launches = row["interval"] != IntervalMethod.T_WITHIN_LAUNCHES
    if row["world_size"] > 1 and of_launches and not isnan(speedup.low):
        ranks = int(row["world_size"])
        verdict = verdict_of(speedup, ranks=ranks, report=report)
        if verdict == Verdict.NEGATIVE_SCALING:
            yield Claim.BASE, speedup.value
        elif verdict in DECIDED:
            yield Claim.TARGET, speedup.value / (ranks * compounded_efficiency(report.target_efficiency, ranks))
    if relative.leaves_out(1):
        yield Claim.VARIANT, relative.value
