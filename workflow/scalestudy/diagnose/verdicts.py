"""The verdict on a point, and the findings that stand for no cause: confounded, healthy, unexplained."""

from math import isnan, nan
from typing import Any

from scalestudy.analyse.point.protocols import measured_of
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.point.spoiled import FEWEST
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import UNEXPLAINED, Evidence, Finding, Prediction, Recommendation
from scalestudy.diagnose.scripts import name_the_rest
from scalestudy.record.protocol import comparable
from scalestudy.registry.codes import Changes, Verdict
from scalestudy.registry.words.points import counted, outcomes, spoiled, unsteady
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.scales import nodes_and_devices

# What has to be the same in a point and its base case; everything else may follow from the number of ranks.
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
OUTSIDE = 0.05  # of a step, as of logging: not seen to be any part of it
OFTEN = 10  # steps; what is done more often is worth a look


def judge_point(case: Case, *, confounded: bool) -> tuple[Verdict, str]:
    """(verdict, sentence): one word that the interval supports, or the word that says it does not decide.

    analyse/point/verdict.py has the words. Without an interval the value alone is judged, and the sentence says
    so. An interval that is beyond what so many ranks can give is confounded.
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
    sure, target = not isnan(point["speedup_low"]), f"the target of {case.target_efficiency:.0%}"
    verdict = verdict_of(Interval.of(point, "speedup"), ranks=case.ranks, report=case.study.report)
    why = {
        Verdict.NEGATIVE_SCALING: f"{case.ranks} ranks are slower than one process",
        Verdict.HEALTHY: f"efficiency is at or above {target}",
        Verdict.AT_TARGET: f"efficiency is within {case.study.report.target_margin:.1%} of {target}",
        Verdict.POOR: f"efficiency is below {target}",
        Verdict.UNDECIDED: f"the interval holds the target efficiency of {case.target_efficiency:.0%}; launch more"
        " often",
    }[verdict]
    if verdict == Verdict.UNDECIDED and not sure:
        why = f"the speedup is more than {case.ranks} ranks can give; launch more often"
    if not sure:
        why += "; one launch only, so there is no interval"
    elif counted(point, "repeats_compared") == FEWEST:
        why += "; this rests on two launches only"
    return verdict, f"{why}; {said}" if (said := spoiled(point)) else why


def find_confounded(case: Case) -> Finding | None:
    """Where the rows differ in more than the number of ranks, or beat what that number can give."""
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
            explanation=f"Step times were measured by protocol {mine} here and by protocol {of_base} at the base,"
            " which are not comparable.",
            evidence=(Evidence.of("protocol", "measurement protocol", mine, "", f"{of_base} at the base"),),
            refuted_by="rows of one protocol",
            recommendations=(again,),
        )
    differ = [
        f"{name}: {_text(base[name])} at the base, {_text(point[name])} here"
        for name in SAME
        if base[name] != point[name]
    ]
    held = "global_batch" if point["scaling"] == "strong" else "batch_per_rank"
    if base[held] != point[held]:
        differ.append(f"{held}: {base[held]} at the base, {point[held]} here, in {point['scaling']} scaling")
    superlinear = point["speedup_low"] > case.ranks
    if not differ and not superlinear:
        return None
    beyond = f"more than {case.ranks} ranks can give" if superlinear else ""
    reasons = differ or [f"the speedup is above {case.ranks}, the number of ranks, with its whole interval"]
    alike = Recommendation(
        id="same_settings",
        change="Run the base case with the settings of this variant: name a single variant"
        " with the same precision as its base, on the same devices and versions.",
        unpredicted="a ratio of different work predicts nothing.",
    )
    return Finding(
        cause="confounded",
        explanation="Not the same work: " + "; ".join(reasons) + ".",
        evidence=(Evidence.of("speedup", "speedup", case.interval("speedup"), "x", beyond),),
        refuted_by="rows that differ in the number of ranks alone and give the same ratio",
        recommendations=(case.accepted(alike),),
    )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def healthy(case: Case) -> Finding:
    """What is said where the verdict is healthy and nothing is found to put right: measure more ranks."""
    point = case.point
    wider = f"{int(point['nodes'])}x{2 * int(point['devices_per_node'])}"
    prediction, unpredicted = _forecast(case, wider)
    more = Recommendation(
        id="more_ranks",
        change=f"Add ranks: measure {wider} too, on a host that has them.",
        patch={"scales": [*case.study.scales, wider]},
        prediction=prediction,
        unpredicted=unpredicted,
        changes=Changes.MORE_RANKS,
        scale=wider,
    )
    return Finding(
        cause="healthy",
        explanation=f"{case.ranks} ranks do the work of {point['speedup']:.2f} processes.",
        evidence=(
            case.efficiency_evidence(f">= {case.target_efficiency:.0%}"),
            Evidence.of("overhead_share", "share of overhead in the step", point["overhead_share"], "%"),
        ),
        refuted_by="a base case that was held back, by fewer threads or a busy host",
        recommendations=(case.accepted(more),),
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


def unexplained(case: Case, verdict: Verdict) -> Finding:
    """Below the target or undecided, and the evidence names no cause: what would decide."""
    point, report = case.point, case.study.report
    study = case.study
    key = "max_repeats" if study.most_repeats > study.repeats else "repeats"
    oftener: dict[str, Any] | None = {key: 2 * study.most_repeats}
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
    unrest = ""
    if mostly_unsteady(point):
        unrest = f" Most launches were not steady ({unsteady(point)}): was there other work on the host?"
    return Finding(
        cause=UNEXPLAINED,
        explanation=f"The evidence at hand does not decide between causes.{unrest}",
        evidence=(case.efficiency_evidence(f"target {case.target_efficiency:.0%}"),),
        refuted_by="a narrower interval",
        recommendations=(
            *name_the_rest(case, OUTSIDE),
            case.accepted(Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED)),
            *(_worth_trying(case) if verdict != Verdict.UNDECIDED else ()),
        ),
    )


def _worth_trying(case: Case) -> list[Recommendation]:
    """Settings that often cost time, where the parts of the step were not measured that would tell."""
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
        change = f"Pass larger micro-batches: {parts} instead of {knobs.accumulation_steps} a step"
        names = (case.point["variant"], case.base["variant"])
        patch = {"variants": {name: {"accumulation_steps": parts} for name in names}}
        found.append(("larger_micro_batches", f"{change}, as far as memory goes.", patch))
    if not knobs.input.workers and case.script is None:  # how long a script waits for data is known
        patch = case.variant_patch({"input": {"loader": "dataloader", "workers": 2}})
        found.append(("read_ahead", "Let processes read ahead.", patch))
    return [
        case.accepted(Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED))
        for key, change, patch in found
    ]
