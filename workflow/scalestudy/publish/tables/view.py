"""A table as its template has it: columns with their formats, rows of cells as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.keys import point_key
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.papers import paper_of
from scalestudy.publish.results import failure_word
from scalestudy.publish.tables.headers import header_lines
from scalestudy.publish.tables.layout import choose_layout
from scalestudy.publish.tables.panels import group_of, head, panel, portions, stub_of, stub_pt
from scalestudy.publish.tables.rows import pick
from scalestudy.publish.views.rows import study_view
from scalestudy.registry.column import Row
from scalestudy.registry.points import HEADLINE, QUANTITIES
from scalestudy.registry.tables import TABLES, Column, Table
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan

PLACE = ("nodes", "ranks")
"""Where a row was measured: first in a table, and in every panel of a table that is cut into several."""
IDENTITY = ("ranks", "nodes", "batch_per_rank", "global_batch", "launches_ok", "parameters")
"""Known of a point whatever became of its launches."""


def table_view(plan: Plan, summary: pd.DataFrame, book: Book, name: Table) -> dict[str, Any]:
    """Values for report/templates/table.tex."""
    rows = [
        row | {"shown": book.quantities(point_key(row))}
        for row in pick(name, summary[summary["scaling"] != "reference"]).to_dict("records")
    ]
    columns = _columns(plan, name, rows)
    groups = _groups(plan, rows, columns, scaling=TABLES[name].names_scaling)
    made = [row for group in groups for row in group["rows"]]
    heads = [
        head(header_lines(column), [row["cells"][index] for row in made]) for index, column in enumerate(columns)
    ]
    stub = stub_of(made)
    repeated = sum(column in PLACE for column in columns)
    layout = choose_layout(stub, [head["width"] for head in heads], repeated=repeated, paper=paper_of(plan))
    return {
        "name": name.replace("_", "-"),
        "study": study_view(plan, summary),
        "about": TABLES[name].about,
        "parts": [
            [panel(heads, part, columns_of, stacked=layout.stacked) for columns_of in layout.panels]
            for part in portions(groups, lines=(2 if layout.stacked else 1) * len(layout.panels))
        ],
        "layout": layout,
        "stub_pt": stub_pt(stub),
        "unsteady": any(row["unsteady"] for row in made),
        "ratios": any(column in columns for column in ("speedup", "efficiency_percent")),
    }


def _columns(plan: Plan, name: Table, rows: Sequence[Row]) -> list[Column]:
    """Those that the study asks for and that have a number; and the nodes, where there are several."""
    wanted = plan.study.report.tables.get(name, TABLES[name].columns)
    found = [column for column in wanted if _has_number(rows, column)]
    several_nodes = any(row["nodes"] > 1 for row in rows)
    found = [*dict.fromkeys(["nodes", *found])] if several_nodes else found
    return sorted(found, key=lambda column: PLACE.index(column) if column in PLACE else len(PLACE))


def _has_number(rows: Sequence[Row], column: Column) -> bool:
    """Also false for a part of the step that takes no time anywhere: nothing to copy to, nothing logged."""
    if column in HEADLINE and any(failure_word(row) for row in rows):
        return True  # their outcome stands there
    texts = [row["shown"][column].value for row in rows]
    nothing = (DASH, "0.00") if column.endswith("_time_ms") else (DASH,)
    return any(text not in nothing for text in texts)


def _groups(plan: Plan, rows: Sequence[Row], columns: list[Column], *, scaling: bool) -> list[dict[str, Any]]:
    """Rows of a workload together, and of a way of scaling where a table has several."""
    groups = []
    for workload in plan.study.workloads:
        for how in ("strong", "weak"):
            mine = [row for row in rows if (row["workload"], row["scaling"]) == (workload, how)]
            if mine:
                title = f"{workload}, {how} scaling" if scaling else workload
                groups.append(group_of(title, [_row(row, columns) for row in mine]))
    return groups


def _row(row: Row, columns: list[Column]) -> dict[str, Any]:
    failure = failure_word(row)
    cells = []
    for column in columns:
        number, printed = row["shown"][column], QUANTITIES[column].printed
        assert printed is not None
        text = failure if failure and column not in IDENTITY else number.value
        cells.append({"value": text, "limits": number.limits if printed.with_limits else ""})
    partial = outcomes(row) if 0 < row["launches_ok"] < row["launches"] else ""
    return {
        "variant": row["variant"],
        "partial": partial,
        "unsteady": mostly_unsteady(row),
        "cells": cells,
    }
