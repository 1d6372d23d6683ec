"""The verdict on a point: one word that its interval supports, or the word that says it does not decide."""

from __future__ import annotations

from math import isnan

from scalestudy.analyse.point.scaling import efficiency
from scalestudy.diagnose.case import Case
from scalestudy.registry.words.outcomes import outcomes

VERDICTS = ("healthy", "undecided", "poor", "negative scaling", "confounded", "not measured")


def judge_point(case: Case, *, confounded: bool) -> tuple[str, str]:
    """(verdict, sentence).

    healthy: the whole interval of the efficiency is at or above the target. negative scaling: the whole interval
    of the speedup is below 1. poor: the whole interval of the efficiency is below the target. undecided: the
    interval holds the target. Without an interval the value alone is judged, and the sentence says so; but one
    that so many ranks cannot give is undecided, for it may be chance. With an interval it is confounded.
    """
    point = case.point
    if not point["launches_ok"]:
        return "not measured", f"no launch came to its end: {outcomes(point)}"
    if isnan(point["speedup"]):
        return "not measured", f"the base case has no launch that came to its end: {outcomes(case.base)}"
    if confounded:
        return "confounded", "the rows do not do the same work, so their ratio is not a speedup"
    sure = not isnan(point["speedup_low"])
    speedup = (point["speedup_low"], point["speedup_high"]) if sure else (point["speedup"],) * 2
    low, high = (efficiency(limit, case.ranks) for limit in speedup)
    target = case.target_efficiency
    if not sure and point["speedup"] > case.ranks:
        verdict, why = "undecided", f"the speedup is more than {case.ranks} ranks can give; launch more often"
    elif speedup[1] < 1:
        verdict, why = "negative scaling", f"{case.ranks} ranks are slower than one process"
    elif low >= target:
        verdict, why = "healthy", f"efficiency is at or above the target of {target:.0%}"
    elif high < target:
        verdict, why = "poor", f"efficiency is below the target of {target:.0%}"
    else:
        verdict, why = "undecided", f"the interval holds the target efficiency of {target:.0%}; launch more often"
    return verdict, why if sure else f"{why}; one launch only, so there is no interval"
