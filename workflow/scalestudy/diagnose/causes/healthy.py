"""healthy: the efficiency is at or above the target; more ranks are worth a measurement."""

from __future__ import annotations

from math import isnan

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation
from scalestudy.diagnose.patches import refusal
from scalestudy.study.scales import nodes_and_devices


def healthy(case: Case) -> Finding:
    """What is said where the verdict is healthy and nothing is found to put right."""
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
                prediction=_forecast(case, wider),
                warning=f"The study would refuse that as it stands: {refused}." if refused else "",
            ),
        ),
    )


def _forecast(case: Case, scale: str) -> str:
    """What the forecast of that scale says, or why there is none."""
    nodes, devices = nodes_and_devices(scale)
    rows = case.forecasts
    rows = rows[(rows["nodes"] == nodes) & (rows["devices_per_node"] == devices)]
    if not len(rows):
        return "Not forecast: it is not among report.forecast_scales."
    row = rows.iloc[0]
    if isnan(row["speedup"]):
        return f"Not forecast: {row['refused']}."
    return (
        f"Speedup {row['speedup']:.2f}x [{row['speedup_low']:.2f}, {row['speedup_high']:.2f}], efficiency"
        f" {row['efficiency']:.0%}, over all laws of overhead that the measured scales allow."
    )
