"""One row a point: the launches of a variant at a scale, compared with their base case."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd

from scalestudy.analyse.accuracy import compare_accuracy
from scalestudy.analyse.intervals import (
    NOTHING,
    Interval,
    difference,
    mean_on_logs,
    ratio_on_logs,
)
from scalestudy.analyse.scaling import karp_flatt, per_doubling_efficiency
from scalestudy.study.model import Report
from scalestudy.study.plan import Plan, Point


def summary_frame(plan: Plan, runs: pd.DataFrame) -> pd.DataFrame:
    """A row per point of the plan, also where no launch succeeded: then its numbers are nan and `outcomes` tells.

    Across launches the geometric mean is taken, of step times and so of throughputs: speedup is exactly the ratio
    of two throughputs in the table, and throughput exactly global batch over step time.
    Columns X, X_low, X_high are a value and its limits at the study's confidence; accuracy has the mean and the
    range over launches.
    """
    runs = runs.set_index("run_id")
    return pd.DataFrame([_row(point, runs, plan.study.report) for point in plan.points])


def _row(point: Point, runs: pd.DataFrame, report: Report) -> dict[str, Any]:
    confidence = report.confidence
    mine, base = runs.loc[list(point.runs)], _ok(runs, point.base)
    good = _ok(runs, point.runs)
    first = (good if len(good) else mine).iloc[0]
    n = point.world_size
    step_time = mean_on_logs(good["step_time_s"], confidence=confidence)
    is_base = set(point.runs) == set(point.base)
    speedup = NOTHING
    if point.scaling != "reference" and len(good) and len(base):
        speedup = (
            Interval(1.0)
            if is_base
            else ratio_on_logs(
                good["throughput_samples_per_s"],
                base["throughput_samples_per_s"],
                confidence=confidence,
            )
        )
    overhead, alone = _overhead(point, good, runs, confidence)
    accuracy_difference, accuracy_kept = compare_accuracy(
        good.set_index("repeat")["validation_accuracy"],
        base.set_index("repeat")["validation_accuracy"],
        margin=report.accuracy_margin,
        confidence=confidence,
    )
    reached, reached_speedup = _time_to_accuracy(good, base, confidence)
    return {
        "workload": point.workload,
        "variant": point.variant,
        "scaling": point.scaling,
        "strategy": first["strategy"],
        "precision": first["precision"],
        "nodes": point.nodes,
        "devices_per_node": point.devices_per_node,
        "world_size": n,
        "batch_per_rank": point.batch_per_rank,
        "global_batch": point.global_batch,
        "is_base": is_base and point.scaling != "reference",
        "base_variant": runs.loc[point.base[0], "variant"],
        "launches": len(point.runs),
        "launches_ok": len(good),
        "outcomes": _outcomes(mine),
        **_columns("step_time_s", step_time),
        "step_time_p50_s": good["step_time_p50_s"].median(),
        "step_time_p95_s": good["step_time_p95_s"].median(),
        "step_time_p99_s": good["step_time_p99_s"].median(),
        **_columns("throughput_samples_per_s", step_time.inverse(point.global_batch)),
        **_columns("speedup", speedup),
        **_columns("efficiency", speedup.scaled(1 / n)),
        "per_doubling_efficiency": per_doubling_efficiency(speedup.value, n),
        "karp_flatt": karp_flatt(speedup.value, n) if point.scaling == "strong" else nan,
        **_columns("overhead_s", overhead),
        "overhead_share": overhead.value / step_time.value,
        **_columns("step_time_alone_s", alone),
        **{
            part: good[part].mean()
            for part in ("data_time_s", "forward_time_s", "backward_time_s", "optimizer_time_s")
        },
        "peak_resident_gib": good["peak_resident_gib"].max(),
        "peak_allocated_gib": good["peak_allocated_gib"].max(),
        "validation_accuracy": good["validation_accuracy"].mean(),
        "validation_accuracy_min": good["validation_accuracy"].min(),
        "validation_accuracy_max": good["validation_accuracy"].max(),
        **_columns("accuracy_difference", accuracy_difference),
        "accuracy_kept": "" if is_base or point.scaling == "reference" else accuracy_kept,
        **_columns("time_to_accuracy_s", reached),
        **_columns("time_to_accuracy_speedup", reached_speedup),
        "launches_at_accuracy": int(good["time_to_accuracy_s"].notna().sum()),
        "parameters": first["parameters"],
        "gradient_bytes": first["gradient_bytes"],
        "device": first["device"],
        "hosts": _distinct(good, "hosts"),
        "torch": _distinct(good, "torch"),
        "threads_per_rank": good["threads_per_rank"].max(),
        "threads_per_core": good["threads_per_core"].max(),
    }


def _overhead(
    point: Point, good: pd.DataFrame, runs: pd.DataFrame, confidence: float
) -> tuple[Interval, Interval]:
    """(T_multi - T_single at equal batch per rank, T_single): what a step pays for not being alone.

    It holds communication, skew between ranks, and whatever the ranks take from each other on the host.
    """
    alone = _ok(runs, point.equal_batch)
    step_time_alone = mean_on_logs(alone["step_time_s"], confidence=confidence)
    if point.world_size == 1:
        return NOTHING, step_time_alone
    return difference(good["step_time_s"], alone["step_time_s"], confidence=confidence), step_time_alone


def _time_to_accuracy(good: pd.DataFrame, base: pd.DataFrame, confidence: float) -> tuple[Interval, Interval]:
    """(training time to the target accuracy, its speedup over the base case).

    Nothing where a launch did not reach it: a mean over those that did would flatter.
    """
    mine, theirs = good["time_to_accuracy_s"], base["time_to_accuracy_s"]
    if not len(mine) or mine.isna().any():
        return NOTHING, NOTHING
    time = mean_on_logs(mine, confidence=confidence)
    if not len(theirs) or theirs.isna().any() or set(mine.index) == set(theirs.index):
        return time, NOTHING
    return time, ratio_on_logs(theirs, mine, confidence=confidence)


def _ok(runs: pd.DataFrame, run_ids: tuple[str, ...]) -> pd.DataFrame:
    chosen = runs.loc[list(run_ids)]
    return chosen[(chosen["outcome"] == "ok") & chosen["step_time_s"].notna()]


def _outcomes(mine: pd.DataFrame) -> str:
    """'3 ok', or '2 ok, 1 oom': every launch is accounted for."""
    words = mine["outcome"].where((mine["outcome"] != "ok") | mine["step_time_s"].notna(), "ok but too short")
    counts = words.value_counts()
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))


def _distinct(good: pd.DataFrame, column: str) -> str:
    return " ".join(sorted({str(value) for value in good[column]}))


def _columns(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
