"""unexplained: below the target or undecided, and the evidence names no cause. Says what would decide."""

from __future__ import annotations

from math import isnan

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation


def find(case: Case, verdict: str) -> Finding | None:
    """Finding of last resort."""
    point, report = case.point, case.study.report
    if verdict == "undecided":
        change, patch = "Launch more often: the interval holds the target.", {"repeats": case.study.repeats * 2}
    elif isnan(point["overhead_s"]) and not report.overhead_reference:
        change = "Measure one process at equal batch per rank: without it the overhead is unknown."
        patch = {"report": {"overhead_reference": True}}
    else:
        change = "Launch more often: the overhead cannot be told from noise."
        patch = {"repeats": case.study.repeats * 2}
    return Finding(
        cause="unexplained",
        explanation="The evidence at hand does not decide between causes.",
        evidence=(
            Evidence(
                "efficiency",
                point["efficiency"] * 100,
                "%",
                point["efficiency_low"] * 100,
                point["efficiency_high"] * 100,
                f"target {case.target_efficiency:.0%}",
            ),
        ),
        refuted_by="a narrower interval",
        recommendations=(
            Recommendation(change=change, patch=patch, prediction="A narrower interval; no speedup by itself."),
        ),
    )
