"""Values for the templates of tables: columns with their formats, rows of cells as text."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import WORK, mostly_unsteady
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.publish.environment import as_text, hardware_view
from scalestudy.publish.numbers.keys import point_key
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.rounding import DASH, NOT_RESOLVED, printed_of
from scalestudy.publish.tables.layout import set_table
from scalestudy.publish.topology import topologies
from scalestudy.publish.views.facts import study_view
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.column import Row
from scalestudy.registry.points import HEADLINE, QUANTITIES
from scalestudy.registry.tables import TABLES, Column, Table
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan

PLACE = ("nodes", "ranks")
"""The place of measurement: first in a table, and in every panel of a table that is split into several."""
IDENTITY = ("ranks", "nodes", "batch_per_rank", "global_batch", "launches_ok", "parameters")
"""Columns that are known of a point whatever the outcome of its runs."""
SHORT = {NOT_RESOLVED: "n.r."}
"""Texts that are abbreviated in a cell; the caption explains them."""
SOFTWARE = {"python": "Python"} | {
    f"version of {name}": name for name in ("torch", "cuda", "nccl", "cudnn", "numpy", "transformers", "snakemake")
}
UNITS = {
    "J": r"\unit{\joule}",
    "ms": r"\unit{\milli\second}",
    "s": r"\unit{\second}",
    "h": r"\unit{\hour}",
    "samples/s": r"\unit{\per\second}",
    "%": r"\unit{\percent}",
    "GiB": r"\unit{\gibi\byte}",
}
"""Unit -> its siunitx form."""


def table_view(plan: Plan, summary: pd.DataFrame, numbers: NumbersFile, name: Table) -> dict[str, Any]:
    """Values for report/templates/table.tex."""
    rows = [
        row | {"shown": numbers.quantities(point_key(row))}
        for row in pick(name, summary[summary["scaling"] != "reference"]).to_dict("records")
    ]
    columns = _columns(plan, name, rows)
    return {
        "name": name.replace("_", "-"),
        "study": study_view(plan, summary),
        "about": TABLES[name].about,
        "withheld": any(row["shown"][column].value == NOT_RESOLVED for row in rows for column in columns),
        "ratios": any(column in columns for column in ("speedup", "efficiency_percent")),
        **set_table(
            [header_lines(column) for column in columns],
            _groups(plan, rows, columns, scaling=TABLES[name].names_scaling) if columns else [],
            repeated=sum(column in PLACE for column in columns),
        ),
    }


def environment_table_view(plan: Plan, summary: pd.DataFrame, environment: StudyEnvironment) -> dict[str, Any]:
    """Values for report/templates/environment_table.tex."""
    facts = environment.facts
    software = [(name, as_text(facts[key])) for key, name in SOFTWARE.items() if facts.get(key)]
    rows = [*hardware_view(facts), *software]
    return {"study": study_view(plan, summary), "rows": rows, "topologies": topologies(environment.links)}


def pick(table: Table, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the summary in a table. rows: without references."""
    if table in ("strong_scaling", "weak_scaling"):
        mine = rows[rows["scaling"] == table.removesuffix("_scaling")]
        return mine if (mine["world_size"] > 1).any() else mine.iloc[:0]
    if table in ("variants", "ddp_fsdp"):
        return _beside(rows, "variant" if table == "variants" else "strategy")
    return rows


def _beside(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Distributed points where several variants or strategies do the same work at the same place."""
    found = rows[rows["world_size"] > 1]
    together = found.groupby(WORK)[what].transform("nunique") > 1
    return found[together].sort_values(WORK, kind="stable", key=_in_order)


def _in_order(column: pd.Series) -> pd.Series:
    """Names in the order of the study, numbers by size."""
    return column if column.dtype.kind in "iuf" else pd.Series(pd.factorize(column)[0], index=column.index)


def header_lines(quantity: str) -> list[str]:
    """The header of a column: at most two lines, and the unit."""
    printed = printed_of(QUANTITIES[quantity])
    words = printed.header.split(" ", 1) if len(printed.header) > len("Step time") else [printed.header]
    return [*words, f"({UNITS[printed.unit]})"] if printed.unit else words


def _columns(plan: Plan, name: Table, rows: Sequence[Row]) -> list[Column]:
    """The study's columns that have a number, and the nodes if there are several; [] if nothing was measured."""
    wanted = plan.study.report.tables.get(name, TABLES[name].columns)
    found = [column for column in wanted if _has_number(rows, column)]
    if set(found) <= set(IDENTITY) and not set(wanted) <= set(IDENTITY):
        return []
    several_nodes = any(row["nodes"] > 1 for row in rows)
    found = [*dict.fromkeys(["nodes", *found])] if several_nodes else found
    return sorted(found, key=lambda column: PLACE.index(column) if column in PLACE else len(PLACE))


def _has_number(rows: Sequence[Row], column: Column) -> bool:
    """Whether any row has a number. False also for a part of the step that takes no time in any row."""
    if column in HEADLINE and any(failure_word(row) for row in rows):
        return True  # the cell has their outcome
    texts = [row["shown"][column].value for row in rows]
    nothing = (DASH, "0.00") if column.endswith("_time_ms") else (DASH,)
    return any(text not in nothing for text in texts)


def _groups(plan: Plan, rows: Sequence[Row], columns: list[Column], *, scaling: bool) -> list[dict[str, Any]]:
    """Rows grouped by workload, and by kind of scaling if a table has several kinds."""
    groups = []
    for workload in plan.study.workloads:
        for how in ("strong", "weak"):
            mine = [row for row in rows if (row["workload"], row["scaling"]) == (workload, how)]
            if mine:
                title = f"{workload}, {how} scaling" if scaling else workload
                groups.append({"title": title, "rows": [_row(row, columns) for row in mine]})
    return groups


def _row(row: Row, columns: list[Column]) -> dict[str, Any]:
    failure = failure_word(row)
    cells = []
    for column in columns:
        number = row["shown"][column]
        text = failure if failure and column not in IDENTITY else number.value
        text = SHORT.get(text, text)
        limits = number.limits if printed_of(QUANTITIES[column]).with_limits else ""
        cells.append({"value": text, "limits": limits})
    return {
        "variant": row["variant"],
        "partial": outcomes(row) if 0 < row["launches_ok"] < row["launches"] else "",
        "unsteady": mostly_unsteady(row),
        "cells": cells,
    }
