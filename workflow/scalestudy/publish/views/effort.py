"""What a study took, as a reader sees it, and as numbers.json has it: the same text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from scalestudy.analyse.study.effort import effort_frame
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.rounding import Shown, show, show_count
from scalestudy.study.plan import Plan

# Column -> (name in a key, unit, what it is, from the column's unit to the printed one).
COLUMNS = {
    "launches": ("launches", "", "launches made", 1.0),
    "wall_time_s": ("wall_time_min", "min", "wall time of the launches, one after another", 1 / 60),
    "device_time_s": ("device_hours", "h", "hours of all devices: wall time times ranks", 1 / 3600),
}


def effort_numbers(runs: pd.DataFrame) -> Iterator[tuple[str, Shown, float, str, str]]:
    """(key, as a reader sees it, value, unit, what it is): of each variant, of each workload, and of all."""
    frame = effort_frame(runs)
    for words, part in _portions(frame):
        for column, (name, unit, what, factor) in COLUMNS.items():
            value = float(part[column].sum()) * factor
            shown = show_count(value) if column == "launches" else show(value)
            yield ".".join(["effort", *words, name]), shown, value, unit, what


def effort_view(plan: Plan, runs: pd.DataFrame, book: Book) -> dict[str, Any]:
    """`workloads`, each with its variants in the order of the study; `total`; `untimed` launches."""
    frame = effort_frame(runs)
    workloads = []
    for workload in plan.study.workloads:
        made = set(frame.loc[frame["workload"] == workload, "variant"])
        rows = [
            {"variant": variant} | _cells(book, workload, variant)
            for variant in plan.study.variants
            if variant in made
        ]
        workloads.append({"workload": workload, "variants": rows, **_cells(book, workload)})
    untimed = int(frame["launches"].sum() - frame["timed"].sum())
    return {"workloads": workloads, "total": _cells(book), "untimed": untimed}


def _portions(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    yield (), frame
    for workload, mine in frame.groupby("workload", sort=False):
        yield (str(workload),), mine
        for variant, part in mine.groupby("variant", sort=False):
            yield (str(workload), str(variant)), part


def _cells(book: Book, *words: str) -> dict[str, Shown]:
    return {name: book.shown(".".join(["effort", *words, name])) for name, *_ in COLUMNS.values()}
