"""healthy: the efficiency is at or above the target; more ranks are worth a measurement."""

from __future__ import annotations

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation
from scalestudy.diagnose.patches import refusal


def find(case: Case, verdict: str) -> Finding | None:
    """Finding where the verdict is healthy."""
    if verdict != "healthy":
        return None
    point = case.point
    wider = f"{int(point['nodes'])}x{2 * int(point['devices_per_node'])}"
    patch = {"scales": [*case.study.scales, wider]}
    refused = refusal(case.study, patch)
    return Finding(
        cause="healthy",
        explanation=f"{case.ranks} ranks do the work of {point['speedup']:.2f} processes.",
        evidence=(
            case.efficiency_evidence(f">= {case.target_efficiency:.0%}"),
            Evidence("share of overhead in the step", point["overhead_share"] * 100, "%"),
        ),
        refuted_by="a base case that was held back, by fewer threads or a busy host",
        recommendations=(
            Recommendation(
                change=f"Add ranks: measure {wider} too, on a host that has them.",
                patch=None if refused else patch,
                prediction="Not forecast: one scale does not tell how the overhead grows with ranks.",
                warning=f"The study would refuse that as it stands: {refused}." if refused else "",
            ),
        ),
    )
