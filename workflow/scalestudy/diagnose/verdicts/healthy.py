"""healthy: the efficiency is at or above the target; more ranks are worth a measurement."""

from __future__ import annotations

from math import isnan, nan

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Prediction, Recommendation
from scalestudy.diagnose.patches import refusal
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.scales import nodes_and_devices


def healthy(case: Case) -> Finding:
    """What is said where the verdict is healthy and nothing is found to put right."""
    point = case.point
    wider = f"{int(point['nodes'])}x{2 * int(point['devices_per_node'])}"
    patch = {"scales": [*case.study.scales, wider]}
    refused = refusal(case.study, patch)
    prediction, unpredicted = _forecast(case, wider)
    return Finding(
        cause="healthy",
        explanation=f"{case.ranks} ranks do the work of {point['speedup']:.2f} processes.",
        evidence=(
            case.efficiency_evidence(f">= {case.target_efficiency:.0%}"),
            Evidence.of("overhead_share", "share of overhead in the step", point["overhead_share"], "%"),
        ),
        refuted_by="a base case that was held back, by fewer threads or a busy host",
        recommendations=(
            Recommendation(
                id="more_ranks",
                change=f"Add ranks: measure {wider} too, on a host that has them.",
                patch=None if refused else patch,
                prediction=prediction,
                unpredicted=unpredicted,
                keeps_the_work=False,
                warning=f"The study would refuse that as it stands: {refused}." if refused else "",
            ),
        ),
    )


def _forecast(case: Case, scale: str) -> tuple[Prediction | None, str]:
    """(what the forecast of that scale says, why there is none)."""
    nodes, devices = nodes_and_devices(scale)
    rows = case.forecasts[case.forecasts["forecast_of"] == "scale"]
    rows = rows[(rows["nodes"] == nodes) & (rows["devices_per_node"] == devices)]
    if not len(rows):
        return None, "it is not among report.forecast_scales."
    row = rows.iloc[0]
    if isnan(row["speedup"]):
        return None, f"{no_forecast(row)}."
    speedup = Interval.of(row, "speedup")
    wider = Prediction(
        step_time_s=Interval.of(row, "step_time_s"),
        gain=Interval.of(row, "throughput_samples_per_s").scaled(1 / case.point["throughput_samples_per_s"]),
        speedup=speedup,
        efficiency=speedup.scaled(1 / (nodes * devices)),
        peak_memory_gib=nan,
        assumes="over all laws of overhead that the measured scales allow",
    )
    return wider, ""
