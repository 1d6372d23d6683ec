"""The verdict on a point: one word that its interval supports, or the word that says it does not decide."""

from __future__ import annotations

from math import isnan

from scalestudy.analyse.point.scaling import efficiency
from scalestudy.diagnose.case import Case
from scalestudy.registry.codes import Verdict
from scalestudy.registry.words.outcomes import outcomes


def judge_point(case: Case, *, confounded: bool) -> tuple[Verdict, str]:
    """(verdict, sentence).

    healthy: the whole interval of the efficiency is at or above the target. negative_scaling: the whole interval
    of the speedup is below 1. poor: the whole interval of the efficiency is below the target. undecided: the
    interval holds the target. Without an interval the value alone is judged, and the sentence says so; but one
    that so many ranks cannot give is undecided, for it may be chance. With an interval it is confounded.
    """
    point = case.point
    if not point["launches_ok"]:
        return Verdict.NOT_MEASURED, f"no launch came to its end: {outcomes(point)}"
    if confounded and isnan(point["speedup"]):
        sentence = "the rows were measured by protocols that are not comparable, so there is no ratio"
        return Verdict.CONFOUNDED, sentence
    if isnan(point["speedup"]):
        return Verdict.NOT_MEASURED, f"the base case has no launch that came to its end: {outcomes(case.base)}"
    if confounded:
        return Verdict.CONFOUNDED, "the rows do not do the same work, so their ratio is not a speedup"
    sure = not isnan(point["speedup_low"])
    speedup = (point["speedup_low"], point["speedup_high"]) if sure else (point["speedup"],) * 2
    low, high = (efficiency(limit, case.ranks) for limit in speedup)
    target = case.target_efficiency
    if not sure and point["speedup"] > case.ranks:
        verdict = Verdict.UNDECIDED
        why = f"the speedup is more than {case.ranks} ranks can give; launch more often"
    elif speedup[1] < 1:
        verdict, why = Verdict.NEGATIVE_SCALING, f"{case.ranks} ranks are slower than one process"
    elif low >= target:
        verdict, why = Verdict.HEALTHY, f"efficiency is at or above the target of {target:.0%}"
    elif high < target:
        verdict, why = Verdict.POOR, f"efficiency is below the target of {target:.0%}"
    else:
        verdict = Verdict.UNDECIDED
        why = f"the interval holds the target efficiency of {target:.0%}; launch more often"
    return verdict, why if sure else f"{why}; one launch only, so there is no interval"
