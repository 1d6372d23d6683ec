"""The verdict that the interval of a speedup supports."""

from math import isnan

from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.analyse.statistics.intervals import Interval, is_above, is_below
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.report import Report


def verdict_of(speedup: Interval, *, ranks: float, report: Report) -> Verdict:
    """Returns healthy, poor, negative_scaling, at_target, or undecided if the interval supports none of them.

    negative_scaling: the whole interval of the speedup is below 1. healthy and poor: the whole interval of the
    efficiency is at or above the target, or below it. at_target: it includes the target, and all of it is within
    `target_margin` of the target. A point whose speedup has an interval that includes 1 is neither healthy nor
    at_target, whatever the target is: it is not known whether the ranks are faster than one process. Without
    limits only the value is judged; it is undecided if it exceeds the possible speedup of these ranks, because it
    may be chance. The target is per doubling of ranks: 0.75 is 0.5625 on 4 ranks. A limit that differs from a
    threshold by rounding of floats alone is at the threshold (RELATIVE_TOLERANCE).
    """
    target, sure = ranks * compounded_efficiency(report.target_efficiency, ranks), not isnan(speedup.low)
    if not sure and is_above(speedup.value, ranks):
        return Verdict.UNDECIDED
    low, high = (speedup.low, speedup.high) if sure else (speedup.value,) * 2
    if is_below(high, 1):
        return Verdict.NEGATIVE_SCALING
    faster = not sure or is_above(low, 1)
    if not is_below(low, target):
        return Verdict.HEALTHY if faster else Verdict.UNDECIDED
    if is_below(high, target):
        return Verdict.POOR
    margin = report.target_margin
    near = not is_below(low, target * (1 - margin)) and not is_above(high, target * (1 + margin))
    return Verdict.AT_TARGET if near and faster else Verdict.UNDECIDED
