"""unexplained: below the target or undecided, and the evidence names no cause. Says what would decide."""

from __future__ import annotations

from math import isnan
from typing import Any

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Finding, Recommendation


def unexplained(case: Case, verdict: str) -> Finding:
    """The finding of last resort."""
    point, report = case.point, case.study.report
    oftener: dict[str, Any] | None = {"repeats": case.study.repeats * 2}
    if verdict == "undecided":
        change, patch = "Launch more often: the interval holds the target.", oftener
    elif isnan(point["overhead_s"]) and not report.overhead_reference:
        change = "Measure one process at equal batch per rank: without it the overhead is unknown."
        patch = {"report": {"overhead_reference": True}}
    elif not point["overhead_s_low"] > 0:
        change, patch = "Launch more often: the overhead cannot be told from noise.", oftener
    else:
        change = (
            f"Raise the batch: the overhead is but {point['overhead_share']:.0%} of the step. The loss is in the"
            " step of one process itself, which does not shrink in proportion to its batch."
        )
        patch = None
    return Finding(
        cause="unexplained",
        explanation="The evidence at hand does not decide between causes.",
        evidence=(case.efficiency_evidence(f"target {case.target_efficiency:.0%}"),),
        refuted_by="a narrower interval",
        recommendations=(
            Recommendation(change=change, patch=patch, prediction="Not predicted: no cause is established."),
        ),
    )
