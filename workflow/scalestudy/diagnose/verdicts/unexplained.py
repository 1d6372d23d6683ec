"""unexplained: below the target or undecided, and the evidence names no cause. Says what would decide."""

from __future__ import annotations

from math import isnan
from typing import Any

from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Finding, Recommendation
from scalestudy.registry.codes import Verdict
from scalestudy.registry.words.steadiness import unsteady

UNPREDICTED = "no cause is established."
OFTEN = 10  # steps; what is done more often is worth a look


def unexplained(case: Case, verdict: Verdict) -> Finding:
    """The finding of last resort."""
    point, report = case.point, case.study.report
    oftener: dict[str, Any] | None = {"repeats": case.study.repeats * 2}
    if verdict == Verdict.UNDECIDED:
        reason = "there is no interval" if isnan(point["speedup_low"]) else "the interval holds the target"
        key, change, patch = "more_repeats", f"Launch more often: {reason}.", oftener
    elif isnan(point["overhead_s"]) and not report.overhead_reference:
        key, change = (
            "equal_batch_reference",
            "Measure one process at equal batch per rank: without it the overhead is unknown.",
        )
        patch = {"report": {"overhead_reference": True}}
    elif not point["overhead_s_low"] > 0:
        key, change, patch = "more_repeats", "Launch more often: the overhead cannot be told from noise.", oftener
    else:
        key, patch = "larger_batch", None
        change = (
            f"Raise the batch: the overhead is but {point['overhead_share']:.0%} of the step. The loss is in the"
            " step of one process itself, which does not shrink in proportion to its batch."
        )
    return Finding(
        cause="unexplained",
        explanation="The evidence at hand does not decide between causes." + _unrest(case),
        evidence=(case.efficiency_evidence(f"target {case.target_efficiency:.0%}"),),
        refuted_by="a narrower interval",
        recommendations=(
            Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED),
            *(worth_trying(case) if verdict != Verdict.UNDECIDED else ()),
        ),
    )


def _unrest(case: Case) -> str:
    """What most launches were disturbed by, where nobody knows what it was."""
    if not mostly_unsteady(case.point):
        return ""
    return f" Most launches were not steady ({unsteady(case.point)}): was there other work on the host?"


def worth_trying(case: Case) -> tuple[Recommendation, ...]:
    """Settings that often cost time, where the parts of the step were not measured that would tell."""
    if not isnan(case.point["logging_time_s"]):
        return ()
    knobs, mine, base = case.knobs, case.point["variant"], case.base["variant"]
    found = []
    if knobs.log_every_steps and knobs.log_every_steps < OFTEN:
        found.append(
            Recommendation(
                id="log_less_often",
                change=f"Log every {OFTEN * knobs.log_every_steps} steps instead of every {knobs.log_every_steps}:"
                " reading the loss waits for the device.",
                patch={"variants": {mine: {"log_every_steps": OFTEN * knobs.log_every_steps}}},
                unpredicted=UNPREDICTED,
            )
        )
    if knobs.accumulation_steps > 1:
        parts = knobs.accumulation_steps // 2
        found.append(
            Recommendation(
                id="larger_micro_batches",
                change=f"Pass larger micro-batches: {parts} instead of {knobs.accumulation_steps} a step, as far"
                " as memory goes.",
                patch={"variants": {name: {"accumulation_steps": parts} for name in (mine, base)}},
                unpredicted=UNPREDICTED,
            )
        )
    if not knobs.input.workers:
        found.append(
            Recommendation(
                id="read_ahead",
                change="Let processes read ahead.",
                patch={"variants": {mine: {"input": {"loader": "dataloader", "workers": 2}}}},
                unpredicted=UNPREDICTED,
            )
        )
    return tuple(found)
