"""The verdict on a point, and the findings that are not causes: confounded, healthy, unexplained."""

from math import isnan, nan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.protocols import measured_of
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.point.spoiled import FEWEST
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.statistics.resolution import SHARE
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.fewer_ranks import fewer_ranks
from scalestudy.diagnose.findings import UNEXPLAINED, Evidence, Finding, Prediction, Recommendation
from scalestudy.diagnose.scripts import name_the_rest
from scalestudy.diagnose.synchronisation import SYNCHRONISATION
from scalestudy.record.protocol import comparable
from scalestudy.registry.codes import Changes, Verdict, Wrapper
from scalestudy.registry.words.percent import percent, percent_digits
from scalestudy.registry.words.points import counted, outcomes, spoiled, unsteady
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
UNPREDICTED = "no cause is established."
OUTSIDE = 0.05  # of a step that belongs to no observed part; the threshold of logging
OFTEN = 10  # steps; logging more often than this is worth a look


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
        Verdict.UNDECIDED: f"{_interval_includes(case)}; run more repeats",
    }[verdict]
    if verdict == Verdict.UNDECIDED and not sure:
        why = f"the speedup is above {case.ranks}, the number of ranks; run more repeats"
    if not sure:
        why += "; there is only one run, so there is no interval"
    elif counted(point, "repeats_compared") == FEWEST:
        why += "; this verdict rests on two runs only"
    return verdict, f"{why}; {said}" if (said := spoiled(point)) else why


def _interval_includes(case: Case) -> str:
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
        if base[name] != point[name] and not (pd.isna(base[name]) and pd.isna(point[name]))  # not in a log
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


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def healthy(case: Case) -> Finding:
    """The finding for a healthy point that needs no fix: it advises more ranks, unless they were measured."""
    point = case.point
    wider = f"{int(point['nodes'])}x{2 * int(point['devices_per_node'])}"
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
            *(() if case.study.imported and isnan(point["overhead_s"]) else (_overhead_share(case),)),
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


def unexplained(case: Case, verdict: Verdict) -> Finding:
    """The finding for a point below the target or undecided without a cause: it advises what would decide."""
    point, report = case.point, case.study.report
    study = case.study
    key = "max_repeats" if study.most_repeats > study.repeats else "repeats"
    oftener: dict[str, Any] | None = {key: 2 * study.most_repeats}
    more_repeats = f"Run more repeats ({key}: {2 * study.most_repeats})"
    if verdict == Verdict.UNDECIDED:
        reason = "there is no interval" if isnan(point["speedup_low"]) else _interval_includes(case)
        key, change, patch = "more_repeats", f"{more_repeats}: {reason}.", oftener
    elif isnan(point["overhead_s"]) and not report.overhead_reference:
        key, change = (
            "equal_batch_reference",
            "Measure one process at equal batch per rank: without it the overhead is unknown.",
        )
        patch = {"report": {"overhead_reference": True}}
    elif not point["overhead_s_low"] > 0:
        reason = "the measurements do not show an overhead above 0"
        key, change, patch = "more_repeats", f"{more_repeats}: {reason}.", oftener
    elif point["overhead_share"] >= SHARE:
        return _contention(case)
    else:
        key, patch = "larger_batch", None
        change = (
            f"Raise the batch: the overhead is only {percent(point['overhead_share'])} of the step. The loss is in"
            " the step of one process, which does not shrink in proportion to its batch."
        )
    return Finding(
        cause=UNEXPLAINED,
        explanation=f"The measurements do not identify a cause.{_unrest(point)}",
        evidence=(case.efficiency_evidence(f"target {percent(case.target_efficiency)}"),),
        refuted_by="a narrower interval",
        recommendations=(
            *name_the_rest(case, OUTSIDE),
            case.accepted(Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED)),
            *(_worth_trying(case) if verdict != Verdict.UNDECIDED else ()),
        ),
    )


def _overhead_share(case: Case) -> Evidence:
    share = case.share_of_step(case.interval("overhead_s"))
    return Evidence.of("overhead_share", "overhead as a share of the step", share, "%")


def _unrest(point: pd.Series) -> str:
    """A sentence about steps that no single mean describes; '' if most runs were steady."""
    if not mostly_unsteady(point):
        return ""
    return f" Most runs were not steady ({unsteady(point)}): check for other work on the host."


def _contention(case: Case) -> Finding:
    """The finding for an overhead that would be blamed on synchronisation if the probes did not measure less."""
    point = case.point
    wrapper = " plus the overhead of the wrapper" if case.base["wrapper"] == Wrapper.NONE else ""
    advice = Recommendation(
        id="less_contention",
        change="Find out what the ranks share on a host (cores, memory bandwidth, a power limit). Give each rank"
        " its own part, or use fewer ranks per host.",
        unpredicted=UNPREDICTED,
    )
    cost, below = case.interval("differential_s"), f"< {percent(SHARE)}"
    return Finding(
        cause=UNEXPLAINED,
        explanation="The measurements do not identify a cause. The probes measure too little synchronisation to"
        f" explain the overhead. The rest is contention between ranks on the host{wrapper}."
        f"{_unrest(point)}",
        evidence=(
            case.efficiency_evidence(f"target {percent(case.target_efficiency)}"),
            *case.overhead_evidence(),
            _overhead_share(case),
            Evidence.of("synchronisation", SYNCHRONISATION, cost, "ms"),
            Evidence.of("synchronisation_share", "its share of the step", case.share_of_step(cost), "%", below),
        ),
        refuted_by="an overhead that stays with one rank on each host",
        recommendations=(
            *name_the_rest(case, OUTSIDE),
            *(one for one in map(case.accepted, (advice, *fewer_ranks(case))) if not one.within_noise),
            *_worth_trying(case),
        ),
    )


def _worth_trying(case: Case) -> list[Recommendation]:
    """Advice on settings that often cost time, if the parts of the step that would show it were not measured."""
    if not isnan(case.point["logging_time_s"]):
        return []
    knobs, found = case.knobs, []
    if knobs.log_every_steps and knobs.log_every_steps < OFTEN:
        rarer = OFTEN * knobs.log_every_steps
        change = f"Log every {rarer} steps instead of every {knobs.log_every_steps}"
        patch = case.variant_patch({"log_every_steps": rarer})
        found.append(("log_less_often", f"{change}: reading the loss waits for the device.", patch))
    if knobs.accumulation_steps > 1:
        parts = knobs.accumulation_steps // 2
        change = f"Use fewer and larger micro-batches: {parts} instead of {knobs.accumulation_steps} per step"
        names = (case.point["variant"], case.base["variant"])
        patch = {"variants": {name: {"accumulation_steps": parts} for name in names}}
        found.append(("larger_micro_batches", f"{change}, if memory allows.", patch))
    if not knobs.input.workers and case.script is None:  # how long a script waits for data is known
        patch = case.variant_patch({"input": {"loader": "dataloader", "workers": 2}})
        found.append(("read_ahead", "Read ahead with worker processes.", patch))
    return [
        case.accepted(Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED))
        for key, change, patch in found
    ]
