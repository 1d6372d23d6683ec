"""The verdict on a point, and the findings of points that are confounded or healthy."""

from math import isnan, nan
from typing import Any

import pandas as pd

from scalestudy.analyse.forecast.columns import Place, twice
from scalestudy.analyse.point.protocols import measured_of
from scalestudy.analyse.point.spoiled import FEWEST
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Prediction, Recommendation
from scalestudy.record.protocol import comparable
from scalestudy.registry.codes import Changes, Spoiled, Verdict
from scalestudy.registry.words.percent import percent, percent_digits
from scalestudy.registry.words.points import counted, outcomes, spoiled
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.scales import nodes_and_devices

# Columns that must be equal for a point and its baseline; all others may depend on the number of ranks.
SAME = (
    "precision",
    "compile",
    "activation_checkpointing",
    "accumulation_steps",
    "device",
    "torch",
    "threads_per_rank",
)


def judge_point(case: Case, *, confounded: bool) -> tuple[Verdict, str]:
    """(verdict, sentence): the verdict that the interval supports, or `undecided`.

    The verdicts are defined in analyse/point/verdict.py. Without an interval only the estimate is judged, and the
    sentence says so. An interval above the number of ranks is confounded.
    """
    point = case.point
    if not point["launches_ok"]:
        return Verdict.NOT_MEASURED, f"no run completed: {outcomes(point)}"
    if confounded and isnan(point["speedup"]):
        sentence = "the rows were measured with protocols that are not comparable, so there is no ratio"
        return Verdict.CONFOUNDED, sentence
    if isnan(point["speedup"]):
        return Verdict.NOT_MEASURED, f"no run of the baseline completed: {outcomes(case.base)}"
    if confounded:
        return Verdict.CONFOUNDED, "the rows do not do the same work, so their ratio is not a speedup"
    sure, target = not isnan(point["speedup_low"]), f"the target of {percent(case.target_efficiency)}"
    speedup, ranks = Interval.of(point, "speedup").scaled(1 / case.base_ranks), case.ranks / case.base_ranks
    verdict = verdict_of(speedup, ranks=ranks, report=case.study.report)
    why = {
        Verdict.NEGATIVE_SCALING: f"{case.ranks} ranks are slower than {_base(case)}",
        Verdict.HEALTHY: f"efficiency is at or above {target}",
        Verdict.AT_TARGET: f"efficiency is within {percent(case.study.report.target_margin, 1)} of {target}",
        Verdict.POOR: f"efficiency is below {target}",
        Verdict.UNDECIDED: f"{interval_includes(case)}{'' if is_disturbed(point) else '; run more repeats'}",
    }[verdict]
    if verdict == Verdict.UNDECIDED and not sure:
        why = f"the speedup is above {case.ranks}, the number of ranks; run more repeats"
    if not sure:
        why += "; there is only one run, so there is no interval"
    elif counted(point, "repeats_compared") == FEWEST:
        why += "; this verdict rests on two runs only"
    return verdict, f"{why}; {said}" if (said := spoiled(point)) else why


def is_disturbed(point: pd.Series) -> bool:
    """Whether other programs disturbed runs of a point, and the other runs are too few to leave these out."""
    by_others = Spoiled.OTHER_LOAD in str(point.get("spoiled_by", "")).split()
    return by_others and counted(point, "repeats_spoiled") > 0 and counted(point, "repeats_clean") < FEWEST


def interval_includes(case: Case) -> str:
    """'the 95 % interval of the efficiency includes the target of 75 %'; or 1 that of the speedup."""
    level = percent_digits(case.study.level, 4)
    if case.point["speedup_low"] >= case.ranks * case.target_efficiency:
        return f"the {level} interval of the speedup includes 1"
    return f"the {level} interval of the efficiency includes the target of {percent(case.target_efficiency)}"


def _base(case: Case) -> str:
    """'one process', or 'the 8 ranks of the baseline'."""
    return "one process" if case.base_ranks == 1 else f"the {case.base_ranks} ranks of the baseline"


def find_confounded(case: Case) -> Finding | None:
    """A finding if the rows differ in more than the number of ranks, or the speedup exceeds that number."""
    point, base = case.point, case.base
    if not comparable(measured_of(point), measured_of(base), "step_time_s"):
        mine, of_base = int(point["protocol"]), int(base["protocol"])
        again = Recommendation(
            id="measure_again",
            change="Measure the older runs again: `scalestudy retry RESULTS --protocol`, then `scalestudy run`.",
            unpredicted="there is no ratio yet.",
        )
        return Finding(
            cause="confounded",
            explanation=f"Step times were measured with protocol {mine} here and with protocol {of_base} for the"
            " baseline. These protocols are not comparable.",
            evidence=(Evidence.of("protocol", "measurement protocol", mine, "", f"{of_base} for the baseline"),),
            refuted_by="rows measured with the same protocol",
            recommendations=(again,),
        )
    differ = [
        f"{name}: {_text(base[name])} for the baseline, {_text(point[name])} here"
        for name in SAME
        if base[name] != point[name] and not (_is_unknown(base[name]) or _is_unknown(point[name]))
    ]
    held = "global_batch" if point["scaling"] == "strong" else "batch_per_rank"
    if base[held] != point[held]:
        differ.append(f"{held}: {base[held]} for the baseline, {point[held]} here, in {point['scaling']} scaling")
    superlinear = point["speedup_low"] > case.ranks
    if not differ and not superlinear:
        return None
    beyond = f"above {case.ranks}, the number of ranks" if superlinear else ""
    reasons = differ or [f"the whole interval of the speedup is above {case.ranks}, the number of ranks"]
    alike = Recommendation(
        id="same_settings",
        change="Run the baseline with the settings of this variant: as its base, name a single-process variant"
        " with the same precision, on the same devices and versions.",
        unpredicted="a ratio of different work predicts nothing.",
    )
    return Finding(
        cause="confounded",
        explanation="This point and its baseline do not do the same work: " + "; ".join(reasons) + ".",
        evidence=(Evidence.of("speedup", "speedup", case.interval("speedup"), "x", beyond),),
        refuted_by="the same ratio between rows that differ only in the number of ranks",
        recommendations=(case.accepted(alike),),
    )


def _is_unknown(value: Any) -> bool:
    """Whether a cell is empty: the log of an imported run does not say it."""
    return bool(pd.isna(value)) or value == ""


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def healthy(case: Case) -> Finding:
    """The finding for a healthy point that needs no fix: it advises more ranks, unless they were measured."""
    point = case.point
    wider = str(twice(Place.of(point), imported=case.study.imported))
    prediction, unpredicted = _forecast(case, wider)
    more = Recommendation(
        id="more_ranks",
        change=f"Add ranks: also measure {wider}, on a host with enough devices.",
        patch={"scales": [*case.study.scales, wider]},
        prediction=prediction,
        unpredicted=unpredicted,
        changes=Changes.MORE_RANKS,
        scale=wider,
    )
    gain = point["speedup"] / case.base_ranks
    return Finding(
        cause="healthy",
        explanation=f"{case.ranks} ranks train {gain:.2f} times as fast as {_base(case)}.",
        evidence=(
            case.efficiency_evidence(f">= {percent(case.target_efficiency)}"),
            *(() if case.study.imported and isnan(point["overhead_s"]) else (case.overhead_share_evidence(),)),
        ),
        refuted_by="a baseline that was slowed down by fewer threads or a busy host",
        recommendations=() if wider in case.study.scales else (case.accepted(more),),
    )


def _forecast(case: Case, scale: str) -> tuple[Prediction | None, str]:
    """(prediction from the forecast for that scale, ''); (None, the reason) if there is no forecast."""
    nodes, devices = nodes_and_devices(scale)
    rows = case.forecasts[case.forecasts["forecast_of"] == "scale"]
    rows = rows[(rows["nodes"] == nodes) & (rows["devices_per_node"] == devices)]
    if not len(rows):
        return None, "this scale is not in report.forecast_scales."
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
        assumes="based on all growth models of the overhead that are consistent with the measured scales",
    )
    return wider, ""
