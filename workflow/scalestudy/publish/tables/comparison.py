"""Several studies in one table: a row a point, with columns of every study and of its ratio to the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scalestudy import __version__
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.study.compare import ONE_PROCESS, Comparison
from scalestudy.publish.comparison.named import Named
from scalestudy.publish.comparison.quantities import shown
from scalestudy.publish.comparison.view import compared_points, study_view
from scalestudy.publish.numbers.keys import slug
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.papers import paper_of
from scalestudy.publish.tables.layout import set_table
from scalestudy.publish.tables.view import UNITS
from scalestudy.publish.words import labels
from scalestudy.publish.words.comparison import ACCURACY_CELL
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.codes import Shows
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import outcomes

Cell = dict[str, Any]
Rows = Mapping[str, Row]
"""Of a point, by the letter of the study."""

PLACES = {"nodes": "Nodes", "world_size": "Ranks", "batch_per_rank": "Batch"}
LABEL_CHARACTERS = 24
"""Of a study's name, in the label that LaTeX knows the table by."""
REPEATED = ("nodes", "world_size")
ALIKE = r"\textsuperscript{\dag}"
"""After an interval that shows no difference."""
SHOWS = {"throughput_ratio": "throughput_shows", "efficiency_difference_points": "efficiency_shows"}


class Column(NamedTuple):
    """A number, or a word, of one study."""

    header: tuple[str, ...]
    letter: str
    name: str
    """Of COMPARED, or of a column of words."""
    limits: bool = False


def comparison_table_view(comparison: Comparison, named: Sequence[Named]) -> dict[str, Any]:
    """Values for report/templates/comparison.tex."""
    groups = {
        workload: [{row["study"]: row for row in rows.to_dict("records")} for rows in points]
        for workload, points in compared_points(comparison.points).items()
    }
    points = [point for group in groups.values() for point in group]
    first = named[0].letter
    places = [name for name in PLACES if name != "nodes" or any(point[first]["nodes"] > 1 for point in points)]
    columns = [column for column in _columns([one.letter for one in named]) if _has_any(points, column, first)]
    made: list[dict[str, Any]] = [
        {"title": title, "rows": [_row(point, places, columns, first) for point in group]}
        for title, group in groups.items()
    ]
    report = named[0].source.plan.study.report
    return {
        "study": {"version": __version__, "name": ", ".join(one.name for one in named)},
        "studies": [study_view(one) for one in named],
        "label": "-".join(filter(None, (slug(one.name)[:LABEL_CHARACTERS] for one in named))) or "studies",
        "first": first,
        "others": labels.listed([one.letter for one in named[1:]]),
        "confidence": f"{report.confidence:.0%}",
        "margin": labels.points(report.accuracy_margin),
        "alike": any(cell["alike"] for group in made for row in group["rows"] for cell in row["cells"]),
        "accuracy": any(column.name == "accuracy_percent" for column in columns),
        **set_table(
            [*([PLACES[name]] for name in places), *(column.header for column in columns)],
            made,
            repeated=sum(name in REPEATED for name in places),
            paper=paper_of(named[0].source.plan),
        ),
    }


def _columns(letters: Sequence[str]) -> Iterator[Column]:
    """In the order of the table. What is of the first study alone has no ratio."""
    first, *others = letters
    for letter in letters:
        yield Column(("Step time", letter, f"({UNITS['ms']})"), letter, "step_time_ms", limits=True)
    for letter in others:
        yield Column(("Throughput", f"{letter} over {first}"), letter, "throughput_ratio", limits=True)
    for letter in letters:
        yield Column(("Effic.", letter, f"({UNITS['%']})"), letter, "efficiency_percent")
    for letter in others:
        yield Column(
            ("Effic.", f"{letter} less {first}", "(points)"), letter, "efficiency_difference_points", limits=True
        )
    for letter in letters:
        yield Column(("Acc.", letter, f"({UNITS['%']})"), letter, "accuracy_percent")
    for letter in others:
        yield Column(("Acc.", f"{letter} to {first}"), letter, "accuracy_shows")


def _has_any(points: Sequence[Rows], column: Column, first: str) -> bool:
    """Whether a column has anything to say; that there is no accuracy is not said in every row."""
    if column.name == "accuracy_shows":
        return any(
            letter in point and shown(point[letter], "accuracy_percent").value != DASH
            for point in points
            for letter in (first, column.letter)
        )
    cells = [_cell(point, column, first) for point in points]
    return any(cell["value"] != DASH for cell in cells)


def _row(point: Rows, places: Sequence[str], columns: Sequence[Column], first: str) -> dict[str, Any]:
    row = point[first]
    partial = [
        f"{letter}: {outcomes(one)}" for letter, one in point.items() if 0 < one["launches_ok"] < one["launches"]
    ]
    return {
        "variant": row["variant"] if row["scaling"] == ONE_PROCESS else f"{row['variant']} {row['scaling']}",
        "partial": "; ".join(partial),
        "unsteady": any(mostly_unsteady(one) for one in point.values()),
        "cells": [_text(f"{row[name]:.0f}") for name in places]
        + [_cell(point, column, first) for column in columns],
    }


def _cell(point: Rows, column: Column, first: str) -> Cell:
    row = point.get(column.letter)
    if row is None:
        return _text(DASH)
    if column.name == "accuracy_shows":
        return _text(_accuracy_word(row, point[first]))
    number = shown(row, column.name)
    if number.value == DASH and column.name == "step_time_ms":
        return _text(failure_word(row) or DASH)
    alike = row.get(SHOWS.get(column.name, ""), None) == Shows.NO_DIFFERENCE
    return _text(number.value, number.limits, alike=alike) if column.limits else _text(number.value)


def _text(value: str, limits: str = "", *, alike: bool = False) -> Cell:
    """`wide`: as many characters as the limits are printed with."""
    wide = f"{limits}+" if alike else limits
    return {"value": value, "limits": f"{limits}{ALIKE}" if alike else limits, "wide": wide, "alike": alike}


def _accuracy_word(row: Row, first: Row) -> str:
    """What the test of equivalence shows; a dash where there was nothing to test."""
    if DASH in (shown(row, "accuracy_percent").value, shown(first, "accuracy_percent").value):
        return DASH
    return ACCURACY_CELL[row["accuracy_shows"]]
