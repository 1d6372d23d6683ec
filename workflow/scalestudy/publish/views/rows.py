"""What the templates are given: text, rounded and labelled. Templates arrange; they never compute."""

from __future__ import annotations

from math import isnan
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.keys import point_key
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.results import as_text, failure_word
from scalestudy.publish.views.measured import (
    communication_view,
    memory_view,
    network_view,
    notes_view,
    parts_view,
    spread_view,
    work_view,
)
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase
from scalestudy.publish.words.points import ACCURACY, methods, stopped
from scalestudy.registry.codes import AccuracyKept, IntervalMethod, Methods
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan


def study_view(plan: Plan, summary: pd.DataFrame) -> dict[str, Any]:
    """Head and caption facts of a study."""
    study = plan.study
    distributed = summary[summary["world_size"] > 1]
    return {
        "name": study.name,
        "description": study.description,
        "confidence": f"{study.report.confidence:.0%}",
        "accuracy_margin": labels.points(study.report.accuracy_margin),
        "target_efficiency": f"{study.report.target_efficiency:.0%}",
        "cores": labels.cores(study.host.cores_per_rank),
        "intervals": labels.intervals(
            confidence=study.report.confidence,
            repeats=study.repeats,
            most_repeats=study.most_repeats,
            bootstrap=bool((summary["interval"] == IntervalMethod.HIERARCHICAL_BOOTSTRAP).any()),
        ),
        "base_variants": ", ".join(sorted(set(distributed["base_variant"]))) or DASH,
        "devices": ", ".join(sorted({str(device) for device in summary["device"].dropna()})) or DASH,
        "version": __version__,
    }


def rows_view(plan: Plan, summary: pd.DataFrame, book: Book) -> list[dict[str, Any]]:
    """The summary's rows as text, grouped by workload; reference rows are left to the CSV."""
    kept = summary[summary["scaling"] != "reference"]
    rows = []
    for workload in plan.study.workloads:
        for _, row in kept[kept["workload"] == workload].iterrows():
            rows.append(_row(row, book, plan.study.workloads[workload].target_accuracy))
    for previous, made in zip([None, *rows], rows, strict=False):
        made["starts_workload"] = previous is None or previous["workload"] != made["workload"]
    return rows


def _row(row: pd.Series, book: Book, target: float | None) -> dict[str, Any]:
    point = point_key(row)
    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return {
        **book.quantities(point),
        "key": point,
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
        "work": work_view(book, point),
        "micro_batches": labels.micro_batches(int(row["accumulation_steps"]), int(row["micro_batch"])),
        "settings": as_text(row["settings"]),
        "outcomes": outcomes(row),
        "failure": failure_word(row),
        "partial": 0 < row["launches_ok"] < row["launches"],
        "has_speedup": not isnan(row["speedup"]),
        "has_overhead": not isnan(row["overhead_s"]),
        "accuracy_kept": _accuracy_kept(book, point, row),
        "target_accuracy": f"{target:.0%}" if target else "",
        "time_to_accuracy": _time_to_accuracy(book, point, row),
        "has_accuracy": not isnan(row["validation_accuracy"]),
        "memory": memory_view(book, point),
        "spread": spread_view(book, point),
        "parts": parts_view(book, point),
        "communication": communication_view(book, point),
        "methods": methods(row),
        "methods_disagree": row["methods"] == Methods.DISAGREE,
        "network": network_view(book, point),
        "notes": notes_view(book, point, row),
        "unsteady": mostly_unsteady(row),
        "stopped_because": stopped(row),
    }


def _accuracy_kept(book: Book, point: str, row: pd.Series) -> Phrase:
    """What the comparison with the base case's accuracy shows, in words; '' for the base case, or without any."""
    if row["accuracy_kept"] == AccuracyKept.NONE or isnan(row["validation_accuracy"]):
        return Phrase()
    if isnan(row["accuracy_difference"]):
        return Phrase("not compared: no launch of the base case has the same seed")
    return book.phrase(
        point, f"{ACCURACY[row['accuracy_kept']]}: difference {{accuracy_difference_points}} points"
    )


def _time_to_accuracy(book: Book, point: str, row: pd.Series) -> Phrase:
    """Training time to the target accuracy and its speedup, in words."""
    launches = f"{int(row['launches_at_accuracy'])} of {int(row['launches_ok'])} launches"
    if not row["launches_at_accuracy"]:
        return Phrase(f"reached by none of {int(row['launches_ok'])} launches")
    if row["launches_at_accuracy"] < row["launches_ok"]:
        return Phrase(f"reached by {launches} only")
    known = book.number(f"{point}.time_to_accuracy_speedup")
    speedup = ", speedup {time_to_accuracy_speedup}" if known else ""
    return book.phrase(point, f"{{time_to_accuracy_s}} s of training ({launches}){speedup}")
