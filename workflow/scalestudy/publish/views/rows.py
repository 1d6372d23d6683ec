"""Points of a study as documents print them: text, rounded and labelled. Templates do no computation."""

from collections.abc import Iterator
from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.energy import ENERGIES
from scalestudy.analyse.point.rows import mostly_unsteady, waits_for_one
from scalestudy.analyse.point.spoiled import FEWEST
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.publish.numbers.keys import factor_key, key_of, point_key
from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.numbers.withheld import reason, to_resolve
from scalestudy.publish.views.parts import communication_view, network_view, overhead_view, parts_view
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase
from scalestudy.publish.words.points import (
    ACCURACY,
    EVERY_RUN,
    FACTORS,
    FACTORS_BESIDE_A_WRAPPER,
    LATE_BY,
    apart,
    failure_word,
    methods,
    stopped,
)
from scalestudy.registry.codes import AccuracyKept, IntervalMethod, LateBy, Methods, Wrapper
from scalestudy.registry.column import Row
from scalestudy.registry.words.imported import base_of_several, limits
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import counted, ends, memory_growth, outcomes, spoiled, unsteady
from scalestudy.study.plan import Plan


def rows_view(plan: Plan, summary: pd.DataFrame, numbers: NumbersFile) -> list[dict[str, Any]]:
    """The summary's rows as text, grouped by workload, each baseline once. Reference rows are in the CSV only."""
    kept = _once(summary[summary["scaling"] != "reference"], plan)
    return [
        _row(row, numbers, workload.target_accuracy, labels.points(plan.study.report.accuracy_margin))
        for name, workload in plan.study.workloads.items()
        for _, row in kept[kept["workload"] == name].iterrows()
    ]


def _once(rows: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The rows, with a baseline of strong and weak scaling only once: it has the same runs in both.

    `scalings` has its kinds of scaling: 'strong and weak'.
    """
    runs = {key_of(point): " ".join(point.runs) for point in plan.points}
    keys = [point_key(row) for row in rows.to_dict("records")]
    bases = rows["is_base"].astype(bool)
    same = pd.Series(
        [runs.get(key, key) if base else key for key, base in zip(keys, bases, strict=True)], index=rows.index
    )
    scalings = rows.groupby(same, sort=False)["scaling"].transform(
        lambda found: " and ".join(dict.fromkeys(found))
    )
    return rows.assign(scalings=scalings)[~same.duplicated()]


def _row(row: pd.Series, numbers: NumbersFile, target: float | None, margin: str) -> dict[str, Any]:
    point = point_key(row)
    steps, micro_batch = counted(row, "accumulation_steps"), counted(row, "micro_batch")
    return {
        **numbers.quantities(point),
        **{name: row[name] for name in ("workload", "variant", "scaling", "is_base")},
        **{name: row[name] for name in ("nodes", "batch_per_rank", "global_batch")},
        "key": point,
        "on_cpu": row["device"] == "cpu",
        "base_ranks": max(1, counted(row, "base_world_size")),
        "repeats": int(row["repeats_compared"]),
        "has_wrapped_base": bool(row["is_base"]) and row["wrapper"] != Wrapper.NONE,
        "ranks": row["world_size"],
        "ranks_text": labels.ranks(row["world_size"], row["nodes"]),
        "scalings": row["scalings"],
        "point": labels.row(row) if row["is_base"] else labels.point(row),
        "work": work_view(numbers, point),
        "micro_batches": f"{steps} micro-batches of {micro_batch}" if steps > 1 else "",
        "settings": row["settings"] if isinstance(row["settings"], str) else "",  # nan: an empty field of a CSV
        "outcomes": outcomes(row),
        "ends": ends(row),
        "failure": failure_word(row),
        "has_p95": not isnan(row["step_time_p95_s"]),
        "has_speedup": not isnan(row["speedup"]),
        **{f"has_{name}": not isnan(row[name]) for name in ENERGIES},
        "has_overhead": not isnan(row["overhead_s"]),
        "overhead": overhead_view(numbers, point),
        "accuracy_code": row["accuracy_kept"],
        "lower_in_every_run": row.get("accuracy_of_every_run", "") == "lower",
        "accuracy_kept": _accuracy_kept(numbers, point, row, margin),
        "target_accuracy": percent(target) if target else "",
        "time_to_accuracy": _time_to_accuracy(numbers, point, row),
        "has_accuracy": not isnan(row["validation_accuracy"]),
        "memory": memory_view(numbers, point),
        "speedups": speedups_view(numbers, point),
        "spread": spread_view(numbers, point),
        "parts": parts_view(numbers, point),
        "communication": communication_view(numbers, point),
        "methods": methods(row),
        "methods_disagree": row["methods"] == Methods.DISAGREE,
        "network": network_view(numbers, point),
        "notes": notes_view(numbers, point, row),
        "spoiled": spoiled_view(numbers, point, row),
        "spoiled_effect": spoiled_effect(numbers, point, row),
        "one_launch": not isnan(row["speedup"]) and isnan(row["speedup_low"]),
        "two_launches": bool(row["repeats_compared"] == FEWEST),
        "unsteady": mostly_unsteady(row),
        "stopped_because": stopped(row),
    }


def add_factors(rows: list[dict[str, Any]], factors: pd.DataFrame, numbers: NumbersFile) -> None:
    """Add `factors` to every row of rows_view, from the root down; empty for single processes.

    factors: efficiency_factors.csv. A tree without a second level is left out: the row has the same number.
    """
    wrapped = {row["workload"] for row in rows if row["has_wrapped_base"]}
    trees: dict[str, list[dict[str, Any]]] = {}
    for _, factor in factors.iterrows():
        words = FACTORS_BESIDE_A_WRAPPER if factor["workload"] in wrapped else FACTORS
        key, meaning = factor_key(factor), words[factor["factor"]]
        number = numbers.number(key)
        shown = {"key": key, "share_percent": numbers.shown(key), "meaning": meaning}
        shown |= {"shown": number.with_unit() if number else DASH, "reason": to_resolve(number) if number else ""}
        trees.setdefault(point_key(factor), []).append({**factor, **shown})
    for row in rows:
        tree = trees.get(row["key"], [])
        row["factors"] = tree if len(tree) > 1 else []


def _accuracy_kept(numbers: NumbersFile, point: str, row: Row, margin: str) -> Phrase:
    """The comparison with the baseline's accuracy, in words; '' for the baseline, or without accuracy."""
    if row["accuracy_kept"] == AccuracyKept.NONE or isnan(row["validation_accuracy"]):
        return Phrase()
    if isnan(row["accuracy_difference"]):
        return Phrase("not compared: no run of the baseline with the same seed has an accuracy")
    if row["accuracy_kept"] == AccuracyKept.NOT_SHOWN:
        said = f"difference {{accuracy_difference_points}} points; inconclusive at a margin of {margin}"
        return numbers.phrase(point, said + EVERY_RUN.get(row.get("accuracy_of_every_run", ""), ""))
    kept = ACCURACY[row["accuracy_kept"]]
    return numbers.phrase(point, f"{kept}: difference {{accuracy_difference_points}} points")


def _time_to_accuracy(numbers: NumbersFile, point: str, row: Row) -> Phrase:
    """Training time to the target accuracy and its speedup, in words."""
    reached, launches = int(row["launches_at_accuracy"]), int(row["launches_ok"])
    if not reached:
        return Phrase(f"reached in none of {launches} runs")
    if reached < launches:
        return Phrase(f"reached in only {reached} of {launches} runs")
    said = f"{{time_to_accuracy_s}} s of training ({reached} of {launches} runs)"
    if numbers.number(f"{point}.time_to_accuracy_speedup"):
        said += ", speedup {time_to_accuracy_speedup}"
    return numbers.phrase(point, said)


def memory_view(numbers: NumbersFile, point: str) -> Phrase:
    """Memory per rank (maximum over ranks): on a device that reports its own, and resident on the host."""
    if not numbers.number(f"{point}.peak_resident_gib"):  # an imported run
        return Phrase()
    said = "{peak_resident_gib} GiB resident at peak, {mean_resident_gib} between steps, per rank"
    if numbers.number(f"{point}.peak_allocated_gib"):
        allocated = "{peak_allocated_gib} GiB allocated at peak"
        if numbers.number(f"{point}.mean_allocated_gib"):  # not known for a user's own script
            allocated += ", {mean_allocated_gib} between steps"
        said = f"{allocated}; {{peak_reserved_gib}} reserved; {said}"
    return numbers.phrase(point, said)


def speedups_view(numbers: NumbersFile, point: str) -> Phrase:
    """The speedups within runs and within repeats; '' if only one of them was measured."""
    if not numbers.number(f"{point}.speedup_in_launches") or not numbers.number(f"{point}.speedup_in_repeats"):
        return Phrase()
    said = "{speedup_in_launches} within runs, {speedup_in_repeats} relative to separate runs of the baseline"
    return numbers.phrase(point, said)


def spread_view(numbers: NumbersFile, point: str) -> Phrase:
    """The scatter of steps and of runs, as coefficients of variation."""
    if not numbers.number(f"{point}.step_time_cv_percent"):  # the log of an imported run has means only
        several = numbers.number(f"{point}.launch_cv_percent")
        return numbers.phrase(point, "runs {launch_cv_percent} %" if several else "")
    launches = ", runs {launch_cv_percent} %" if numbers.number(f"{point}.launch_cv_percent") else ""
    shared = numbers.number(f"{point}.shared_variance_percent")
    drift = "; drift of the host: {shared_variance_percent} % of the variance between runs" if shared else ""
    return numbers.phrase(point, f"steps {{step_time_cv_percent}} % around their mean{launches}{drift}")


def notes_view(numbers: NumbersFile, point: str, row: pd.Series) -> list[Phrase]:
    """Notes on this row: sentences, possibly none."""
    relative = base_of_several(row)
    notes = [
        Phrase(text)
        for text in (limits(row.get("limits", "")), relative, unsteady(row), memory_growth(row))
        if text
    ]
    if row["launches_left_out"]:
        older = f"{int(row['launches_left_out'])} runs of older measurement protocols are left out"
        notes.append(Phrase(f"{older}: they are not comparable with protocol {int(row['protocol'])}"))
    if said := spoiled_view(numbers, point, row):
        notes.append(said)
    notes += _of_the_speedup(numbers, point, row)
    if row["is_base"] and row["wrapper"] != Wrapper.NONE:
        notes.append(_of_the_wrapper(numbers, point, row))
    if waits_for_one(row):
        how = LATE_BY.get(row["late_by"], LATE_BY[LateBy.BUCKETS])
        notes.append(numbers.phrase(point, f"rank {int(row['late_rank'])} is late: {how}"))
    if row["methods"] == Methods.DISAGREE:
        notes.append(Phrase(f"methods of measuring communication {methods(row)}"))
    if row["allocation_retries"] > 0:
        retries = f"the CUDA allocator had to retry {int(row['allocation_retries'])} times"
        notes.append(Phrase(f"{retries}: memory is nearly full"))
    return notes


def spoiled_view(numbers: NumbersFile, point: str, row: Row) -> Phrase:
    """What disturbed runs of a point, whether these count, and their effect, in a sentence; '' for none."""
    said, effect = spoiled(row), spoiled_effect(numbers, point, row)
    return Phrase(said, ": ", effect) if said and effect else Phrase(said)


def spoiled_effect(numbers: NumbersFile, point: str, row: Row) -> Phrase:
    """The effect of disturbed runs: the speedup, or the step time of one process, with and without them."""
    if row["world_size"] > 1:
        if counted(row, "repeats_spoiled") and not counted(row, "repeats_clean"):
            return Phrase()
        effect = "the speedup is {speedup_with_spoiled} with all runs and {speedup_without_spoiled} without"
    else:
        effect = (
            "the step time is {step_time_with_spoiled_ms} ms with all runs and {step_time_ms} ms without these"
        )
    known = counted(row, "repeats_spoiled" if row["world_size"] > 1 else "spoiled_left_out")
    return numbers.phrase(point, effect) if known else Phrase()


def _of_the_wrapper(numbers: NumbersFile, point: str, row: pd.Series) -> Phrase:
    """That the baseline includes a wrapper, and the wrapper's share of the step if it was measured."""
    said = f"the baseline includes the {row['wrapper'].upper()} wrapper"
    if Interval.of(row, "wrapper_time_s").leaves_out(0):
        taken = "{wrapper_ms} ms of the step ({wrapper_share_percent} %)"
        return numbers.phrase(point, f"{said}, whose work in the backward pass takes {taken}")
    if wrapper := numbers.number(f"{point}.wrapper_ms"):
        if not wrapper.resolved:
            return Phrase(f"{said}; its share is not resolved: {reason(wrapper)}")
        return numbers.phrase(point, f"{said}; its share is within noise: {{wrapper_ms}} ms of the step")
    return Phrase(f"{said}; its share was not measured")


def _of_the_speedup(numbers: NumbersFile, point: str, row: pd.Series) -> Iterator[Phrase]:
    compared, of_launches = int(row["repeats_compared"]), row["interval"] == IntervalMethod.T_WITHIN_LAUNCHES
    if contended := int(row["launches_contended"]):
        launches = labels.counted(contended, "run")
        said = f"other processes used the cores in every round of turns of {launches}"
        left_out = compared + int(row["launches_without_turns"]) < row["launches_ok"]
        end = "the speedup excludes these" if left_out else "too few were quiet, so the speedup includes these"
        yield Phrase(f"{said}; {end}" if of_launches else said)
    if 0 < compared < row["launches_ok"] and not (contended and of_launches):
        both = f"{compared} repeats have a good run of both this point and its baseline"
        own = f"in {compared} runs the baseline took turns"
        yield Phrase(f"{own if of_launches else both}; the speedup is from these")
    if row["repeats_apart"] and not of_launches:
        yield numbers.phrase(point, apart(row))
    if without := int(row["launches_without_turns"]):
        launches = labels.counted(without, "run")
        yield Phrase(f"in {launches} there was no memory for the baseline in addition to the training of rank 0")
    if Interval.of(row, "estimator_ratio").leaves_out(1):
        yield numbers.phrase(
            point,
            "the speedup within runs is {estimator_ratio} times the speedup relative to separate runs of the"
            " baseline: separate processes have other memory, cores or clocks",
        )


def work_view(numbers: NumbersFile, point: str) -> str:
    """The work of a step: parameters, arithmetic and its rate, bytes that a rank sends."""
    names = ("parameters", "flop_per_sample", "flop_per_s_per_rank", "sent_mib_per_step")
    parameters, flop, rate, sent = (numbers.number(f"{point}.{name}") for name in names)
    said = []
    if parameters:
        said.append(f"{parameters.shown} parameters")
    if flop:
        done = f", {_joined(rate, 'FLOP/s')} per rank" if rate else ""
        said.append(f"{_joined(flop, 'FLOP')} per sample{done}")
    if sent and sent.value > 0:
        said.append(f"each rank sends {sent.shown} MiB per step")
    return "; ".join(said)


def _joined(number: Number, unit: str) -> str:
    """'1.28 GFLOP', '12 FLOP': there is a prefix from 1000 on."""
    return f"{number.shown}{'' if number.value >= 1000 else ' '}{unit}"
