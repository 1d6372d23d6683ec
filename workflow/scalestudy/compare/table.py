"""Several studies in one table: one row per point, with columns for every study and its ratio to the first."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scalestudy import __version__
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.study.compare import ONE_PROCESS
from scalestudy.compare.model import ComparisonFile
from scalestudy.compare.points import Rows, compared_points, shown
from scalestudy.compare.words import ACCURACY_CELL
from scalestudy.publish.numbers.keys import slug
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.tables.layout import set_table
from scalestudy.publish.tables.view import UNITS
from scalestudy.publish.words import labels
from scalestudy.registry.codes import Shows
from scalestudy.registry.column import Row
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import outcomes

Cell = dict[str, str]
"""`value` and `limits` as text; `wide`: a text as wide as the printed limits."""

HEADERS = {
    "step_time_ms": ("Step time", "", UNITS["ms"]),
    "throughput_ratio": ("Throughput", "over", ""),
    "efficiency_percent": ("Effic.", "", UNITS["%"]),
    "efficiency_difference_points": ("Effic.", "less", "points"),
    "accuracy_percent": ("Acc.", "", UNITS["%"]),
    "accuracy_shows": ("Acc.", "to", ""),
}
"""Number of a row, or the word for the accuracy -> (name, relation to the first study, unit)."""
WITH_LIMITS = ("step_time_ms", "throughput_ratio", "efficiency_difference_points")
PLACES = {"nodes": "Nodes", "world_size": "Ranks", "batch_per_rank": "Batch"}
LABEL_CHARACTERS = 24
"""Most characters of a study's name in the LaTeX label of the table."""
REPEATED = ("nodes", "world_size")
ALIKE = r"\textsuperscript{\dag}"
"""Follows an interval without a significant difference."""
SHOWS = {"throughput_ratio": "throughput_shows", "efficiency_difference_points": "efficiency_shows"}


class Column(NamedTuple):
    """A column: a number, or the word for the accuracy, of one study."""

    header: list[str]
    letter: str
    name: str
    """A key of HEADERS."""


def comparison_table_view(file: ComparisonFile, points: Sequence[Rows]) -> dict[str, Any]:
    """Values for report/templates/comparison.tex. points: from points_of."""
    groups = compared_points(points)
    compared = [rows for mine in groups.values() for rows in mine]
    letters = [one.letter for one in file.studies]
    several_nodes = any(row["nodes"] > 1 for rows in compared for row in rows.values())
    places = [name for name in PLACES if name != "nodes" or several_nodes]
    columns = [column for column in _columns(letters) if _has_any(compared, column)]
    made: list[dict[str, Any]] = [
        {"title": workload, "rows": [_row(rows, places, columns) for rows in mine]}
        for workload, mine in groups.items()
    ]
    return {
        "study": {"version": __version__, "name": ", ".join(one.name for one in file.studies)},
        "studies": file.studies,
        "label": "-".join(filter(None, (slug(one.name)[:LABEL_CHARACTERS] for one in file.studies))) or "studies",
        "first": letters[0],
        "others": labels.listed(letters[1:]),
        "confidence": percent(file.confidence),
        "margin": labels.points(file.accuracy_margin),
        "alike": any(cell.get("wide") for group in made for row in group["rows"] for cell in row["cells"]),
        "accuracy": any(column.name == "accuracy_percent" for column in columns),
        **set_table(
            [*([PLACES[name]] for name in places), *(column.header for column in columns)],
            made,
            repeated=sum(name in REPEATED for name in places),
        ),
    }


def _columns(letters: Sequence[str]) -> Iterator[Column]:
    """Columns in the order of the table. The first study has no columns for comparisons with itself."""
    first, *others = letters
    for name, (what, relation, unit) in HEADERS.items():
        for letter in others if relation else letters:
            whose = f"{letter} {relation} {first}" if relation else letter
            yield Column([what, whose, *([f"({unit})"] if unit else [])], letter, name)


def _has_any(points: Sequence[Rows], column: Column) -> bool:
    """Whether a column has any content. A missing accuracy alone is not content."""
    if column.name == "accuracy_shows":
        return any(_has_accuracy(row) for rows in points for row in (_first(rows), rows.get(column.letter)) if row)
    return any(_cell(rows, column)["value"] != DASH for rows in points)


def _row(rows: Rows, places: Sequence[str], columns: Sequence[Column]) -> dict[str, Any]:
    first = _first(rows)
    partial = [
        f"{letter}: {outcomes(row)}" for letter, row in rows.items() if 0 < row["launches_ok"] < row["launches"]
    ]
    return {
        "variant": first["variant"] + ("" if first["scaling"] == ONE_PROCESS else f" {first['scaling']}"),
        "partial": "; ".join(partial),
        "unsteady": any(mostly_unsteady(row) for row in rows.values()),
        "cells": [
            *({"value": f"{first[name]:.0f}", "limits": ""} for name in places),
            *(_cell(rows, column) for column in columns),
        ],
    }


def _cell(rows: Rows, column: Column) -> Cell:
    row = rows.get(column.letter)
    if row is None:
        return {"value": DASH, "limits": ""}
    if column.name == "accuracy_shows":
        tested = _has_accuracy(row) and _has_accuracy(_first(rows))
        return {"value": ACCURACY_CELL[row["accuracy_shows"]] if tested else DASH, "limits": ""}
    value, limits = shown(row, column.name).value, shown(row, column.name).limits
    if value == DASH and column.name == "step_time_ms":
        value = row["failure"] or DASH
    if column.name in SHOWS and row[SHOWS[column.name]] == Shows.NO_DIFFERENCE:
        return {"value": value, "limits": f"{limits}{ALIKE}", "wide": f"{limits}+"}
    return {"value": value, "limits": limits if column.name in WITH_LIMITS else ""}


def _first(rows: Rows) -> Row:
    """The row of the first study, which every compared point has."""
    return next(iter(rows.values()))


def _has_accuracy(row: Row) -> bool:
    return shown(row, "accuracy_percent").value != DASH
