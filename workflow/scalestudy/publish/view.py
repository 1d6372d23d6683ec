"""What the templates are given: text, rounded and labelled. Templates arrange; they never compute."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.rows import mostly_unsteady
from scalestudy.publish import labels
from scalestudy.publish.measured import (
    as_text,
    communication_view,
    memory_view,
    network_view,
    notes_view,
    parts_sum_view,
    parts_view,
    spread_view,
    work_view,
)
from scalestudy.publish.numbers import DASH, Shown, show, table_format
from scalestudy.study.plan import Plan

OUTCOME_WORDS = {"oom": "OOM"}


def study_view(plan: Plan, summary: pd.DataFrame) -> dict[str, Any]:
    """Head and caption facts of a study."""
    study = plan.study
    distributed = summary[summary["world_size"] > 1]
    return {
        "name": study.study,
        "description": study.description,
        "confidence": f"{study.report.confidence:.0%}",
        "accuracy_margin": labels.points(study.report.accuracy_margin),
        "target_efficiency": f"{study.report.target_efficiency:.0%}",
        "cores": labels.cores(study.host.cores_per_rank),
        "intervals": labels.intervals(
            confidence=study.report.confidence,
            repeats=study.repeats,
            most_repeats=study.most_repeats,
            methods=set(summary["interval"].dropna()),
        ),
        "base_variants": ", ".join(sorted(set(distributed["base_variant"]))) or DASH,
        "devices": ", ".join(sorted({str(device) for device in summary["device"].dropna()})) or DASH,
        "version": __version__,
    }


def rows_view(plan: Plan, summary: pd.DataFrame) -> list[dict[str, Any]]:
    """The summary's rows as text, grouped by workload; reference rows are left to the CSV."""
    kept = summary[summary["scaling"] != "reference"]
    rows = []
    for workload in plan.study.workloads:
        for _, row in kept[kept["workload"] == workload].iterrows():
            rows.append(_row(row, plan.study.workloads[workload].target_accuracy))
    for previous, row in zip([None, *rows], rows, strict=False):
        row["starts_workload"] = previous is None or previous["workload"] != row["workload"]
    return rows


def _row(row: pd.Series, target: float | None) -> dict[str, Any]:
    def shown(column: str, factor: float = 1) -> Shown:
        return show(row[column], row[f"{column}_low"], row[f"{column}_high"], factor=factor)

    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return {
        "workload": row["workload"],
        "variant": row["variant"],
        "scaling": row["scaling"],
        "is_base": bool(row["is_base"]),
        "ranks": int(row["world_size"]),
        "nodes": int(row["nodes"]),
        "on_nodes": labels.on_nodes(int(row["nodes"])),
        "ranks_text": ranks,
        "point": f"{row['variant']} {row['scaling']}, {ranks}, batch {int(row['batch_per_rank'])} per rank",
        "batch_per_rank": int(row["batch_per_rank"]),
        "global_batch": int(row["global_batch"]),
        "work": work_view(row),
        "micro_batches": labels.micro_batches(int(row["accumulation_steps"]), int(row["micro_batch"])),
        "settings": as_text(row["settings"]),
        "outcomes": row["outcomes"],
        "failure": _failure(row),
        "partial": 0 < row["launches_ok"] < row["launches"],
        "step_time_ms": shown("step_time_s", 1e3),
        "step_time_p95_ms": show(row["step_time_p95_s"], factor=1e3),
        "throughput": shown("throughput_samples_per_s"),
        "speedup": shown("speedup"),
        "efficiency_percent": shown("efficiency", 100),
        "has_overhead": not isnan(row["overhead_s"]),
        "overhead_ms": shown("overhead_s", 1e3),
        "overhead_share_percent": show(row["overhead_share"], factor=100),
        "accuracy_percent": show(
            row["validation_accuracy"],
            row["validation_accuracy_min"],
            row["validation_accuracy_max"],
            factor=100,
        ),
        "accuracy_kept": _accuracy_kept(row, shown),
        "target_accuracy": f"{target:.0%}" if target else "",
        "time_to_accuracy": _time_to_accuracy(row, shown),
        "has_accuracy": not isnan(row["validation_accuracy"]),
        "memory": memory_view(row),
        "spread": spread_view(row),
        "parts": parts_view(row),
        "parts_sum_ms": parts_sum_view(row),
        "communication": communication_view(row),
        "methods": as_text(row["methods"]),
        "network": network_view(row),
        "notes": notes_view(row),
        "unsteady": bool(mostly_unsteady(row)),
        "stopped_because": as_text(row["stopped_because"]),
    }


def _accuracy_kept(row: pd.Series, shown: Callable[..., Shown]) -> str:
    """What the comparison with the base case's accuracy shows, in words; '' for the base case, or without any."""
    words = {
        "equivalent": "kept",
        "lower": "lower than the base case's",
        "higher": "higher than the base case's",
        "not shown": "not shown to be kept",
    }
    if row["accuracy_kept"] not in words or isnan(row["validation_accuracy"]):
        return ""
    if isnan(row["accuracy_difference"]):
        return "not compared: no launch of the base case has the same seed"
    return f"{words[row['accuracy_kept']]}: difference {shown('accuracy_difference', 100)} points"


def _time_to_accuracy(row: pd.Series, shown: Callable[..., Shown]) -> str:
    """Training time to the target accuracy and its speedup, in words."""
    launches = f"{int(row['launches_at_accuracy'])} of {int(row['launches_ok'])} launches"
    if not row["launches_at_accuracy"]:
        return f"reached by none of {int(row['launches_ok'])} launches"
    if row["launches_at_accuracy"] < row["launches_ok"]:
        return f"reached by {launches} only"
    speedup = shown("time_to_accuracy_speedup")
    return f"{shown('time_to_accuracy_s')} s of training ({launches})" + (
        "" if speedup.value == DASH else f", speedup {speedup}"
    )


def column_formats(rows: list[dict[str, Any]]) -> dict[str, str]:
    """siunitx `table-format` of every numeric column: digits before and after the point of its widest number."""
    columns = ("ranks", "batch_per_rank", "step_time_ms", "throughput", "speedup", "efficiency_percent")
    return {name: table_format([str(_value(row[name])) for row in rows]) for name in columns}


def _value(cell: Any) -> Any:
    return cell.value if isinstance(cell, Shown) else cell


def _failure(row: pd.Series) -> str:
    """The word for a row without a single good launch, or ''."""
    if row["launches_ok"]:
        return ""
    words = [part.split(" ", 1)[1] for part in row["outcomes"].split(", ")]
    return " / ".join(OUTCOME_WORDS.get(word, word) for word in words)
