"""The points of a study as documents print them. Templates arrange; they never compute."""

from __future__ import annotations

from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.publish.numbers.keys import factor_key, point_key
from scalestudy.publish.numbers.model import NumbersFile
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
from scalestudy.publish.words.points import ACCURACY, FACTORS, failure_word, methods, stopped
from scalestudy.registry.codes import AccuracyKept, Methods
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan


def rows_view(plan: Plan, summary: pd.DataFrame, numbers: NumbersFile) -> list[dict[str, Any]]:
    """The summary's rows as text, grouped by workload; reference rows are left to the CSV."""
    kept = summary[summary["scaling"] != "reference"]
    return [
        _row(row, numbers, workload.target_accuracy)
        for name, workload in plan.study.workloads.items()
        for _, row in kept[kept["workload"] == name].iterrows()
    ]


def _row(row: pd.Series, numbers: NumbersFile, target: float | None) -> dict[str, Any]:
    point = point_key(row)
    steps, micro_batch = int(row["accumulation_steps"]), int(row["micro_batch"])
    return {
        **numbers.quantities(point),
        **{name: row[name] for name in ("workload", "variant", "scaling", "is_base")},
        **{name: row[name] for name in ("nodes", "batch_per_rank", "global_batch")},
        "key": point,
        "ranks": row["world_size"],
        "ranks_text": labels.ranks(row["world_size"], row["nodes"]),
        "point": labels.point(row),
        "work": work_view(numbers, point),
        "micro_batches": f"{steps} micro-batches of {micro_batch}" if steps > 1 else "",
        "settings": row["settings"] if isinstance(row["settings"], str) else "",  # nan: an empty field of a CSV
        "outcomes": outcomes(row),
        "failure": failure_word(row),
        "has_speedup": not isnan(row["speedup"]),
        "has_overhead": not isnan(row["overhead_s"]),
        "accuracy_kept": _accuracy_kept(numbers, point, row),
        "target_accuracy": f"{target:.0%}" if target else "",
        "time_to_accuracy": _time_to_accuracy(numbers, point, row),
        "has_accuracy": not isnan(row["validation_accuracy"]),
        "memory": memory_view(numbers, point),
        "spread": spread_view(numbers, point),
        "parts": parts_view(numbers, point),
        "communication": communication_view(numbers, point),
        "methods": methods(row),
        "methods_disagree": row["methods"] == Methods.DISAGREE,
        "network": network_view(numbers, point),
        "notes": notes_view(numbers, point, row),
        "unsteady": mostly_unsteady(row),
        "stopped_because": stopped(row),
    }


def add_factors(rows: list[dict[str, Any]], factors: pd.DataFrame, numbers: NumbersFile) -> None:
    """`factors` of every row of rows_view, from the root down; empty for single processes.

    factors: efficiency_factors.csv. A tree without a second level says nothing that the row does not.
    """
    trees: dict[str, list[dict[str, Any]]] = {}
    for _, factor in factors.iterrows():
        key, meaning = factor_key(factor), FACTORS[factor["factor"]]
        shown = {"key": key, "share_percent": numbers.shown(key), "meaning": meaning}
        trees.setdefault(point_key(factor), []).append({**factor, **shown})
    for row in rows:
        tree = trees.get(row["key"], [])
        row["factors"] = tree if len(tree) > 1 else []


def _accuracy_kept(numbers: NumbersFile, point: str, row: Row) -> Phrase:
    """What the comparison with the base case's accuracy shows, in words; '' for the base case, or without any."""
    if row["accuracy_kept"] == AccuracyKept.NONE or isnan(row["validation_accuracy"]):
        return Phrase()
    if isnan(row["accuracy_difference"]):
        return Phrase("not compared: no launch of the base case has the same seed")
    kept = ACCURACY[row["accuracy_kept"]]
    return numbers.phrase(point, f"{kept}: difference {{accuracy_difference_points}} points")


def _time_to_accuracy(numbers: NumbersFile, point: str, row: Row) -> Phrase:
    """Training time to the target accuracy and its speedup, in words."""
    reached, launches = int(row["launches_at_accuracy"]), int(row["launches_ok"])
    if not reached:
        return Phrase(f"reached by none of {launches} launches")
    if reached < launches:
        return Phrase(f"reached by {reached} of {launches} launches only")
    said = f"{{time_to_accuracy_s}} s of training ({reached} of {launches} launches)"
    if numbers.number(f"{point}.time_to_accuracy_speedup"):
        said += ", speedup {time_to_accuracy_speedup}"
    return numbers.phrase(point, said)
