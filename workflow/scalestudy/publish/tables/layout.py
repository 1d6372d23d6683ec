"""How a table is set so that it fits: over one column of a page or both, limits beside or under, in panels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scalestudy.publish.numbers.rounding import table_format
from scalestudy.publish.papers import Paper

DIGIT_PT, LIMIT_PT, GAP_PT = 4.4, 3.7, 6.0  # at \footnotesize of a 10 pt class
SPARE = 0.96  # of a width: these are estimates
SCRIPT = 0.88  # \scriptsize over \footnotesize
STUB_CHARACTERS = 18
"""A longer name of a variant is broken at its hyphens."""
PAGE_LINES = 44
"""Of a table, on a page of \\footnotesize with a caption."""
LONG_TITLE = 45
"""Characters from which the title of a group is broken into lines."""


@dataclass(frozen=True)
class Layout:
    """The narrowest need first: a page is left whole where a column is enough."""

    wide: bool
    stacked: bool
    """Limits in a line of their own, under their values."""
    panels: tuple[tuple[int, ...], ...]
    """Columns, by their place, of each of the tabulars that stand one below the other."""

    @property
    def environment(self) -> str:
        return "table*" if self.wide else "table"


class Column:
    """A column: its header in lines, its siunitx format, and how many characters its longest texts have.

    cells: `value` and `limits` as text, and `wide` where the limits take other room than their characters.
    """

    def __init__(self, header: Sequence[str], cells: list[dict[str, Any]]) -> None:
        self.header = header
        self.format = table_format([cell["value"] for cell in cells])
        self.value = max((len(cell["value"]) for cell in cells), default=0)
        self.limits = max((len(cell.get("wide", cell["limits"])) for cell in cells), default=0)

    def width_pt(self, *, stacked: bool) -> float:
        """Side by side, a value and its limits are two columns under one header."""
        words = max(len(line) for line in self.header if not line.startswith("("))
        header, value, limits = words * DIGIT_PT, self.value * DIGIT_PT, self.limits * LIMIT_PT
        if stacked:
            return GAP_PT + max(header, value, limits * SCRIPT)
        return GAP_PT + max(header, value + (2 + limits if limits else 0))


def set_table(
    headers: Sequence[Sequence[str]], groups: list[dict[str, Any]], *, repeated: int, paper: Paper
) -> dict[str, Any]:
    """Rows as report/templates/table.tex has them: in tabulars that fit a paper, in portions that fit a page.

    headers: of each column, in lines. groups: title and rows, each with `variant`, `partial`, `unsteady` and
    `cells`. repeated: so many columns say where a row was measured; every panel begins with them.
    """
    rows = [row for group in groups for row in group["rows"]]
    columns = [Column(header, [row["cells"][index] for row in rows]) for index, header in enumerate(headers)]
    # The longest name in the first column, with the outcomes that stand behind it.
    names = [f"{row['variant']} ({row['partial']})" if row["partial"] else row["variant"] for row in rows]
    stub = max(map(len, names), default=0)
    layout = _layout(stub, columns, repeated=repeated, paper=paper)
    lines = (2 if layout.stacked else 1) * len(layout.panels)
    return {
        "parts": [
            [_panel(columns, part, indices, stacked=layout.stacked) for indices in layout.panels]
            for part in _portions(groups, lines=lines)
        ],
        "layout": layout,
        "stub_pt": f"{STUB_CHARACTERS * DIGIT_PT:.0f}" if stub > STUB_CHARACTERS else "",
        "unsteady": any(row["unsteady"] for row in rows),
    }


def _layout(stub: int, columns: Sequence[Column], *, repeated: int, paper: Paper) -> Layout:
    """The first layout that holds. stub: characters of the longest first cell."""
    column_pt, page_pt = SPARE * paper.column_pt, SPARE * paper.page_pt
    first = min(stub, STUB_CHARACTERS) * DIGIT_PT
    beside, under = ([column.width_pt(stacked=stacked) for column in columns] for stacked in (False, True))
    whole = (tuple(range(len(columns))),)
    if first + sum(beside) <= page_pt:
        return Layout(wide=first + sum(beside) > column_pt, stacked=False, panels=whole)
    if first + sum(under) <= page_pt:
        return Layout(wide=True, stacked=True, panels=whole)
    common = list(range(repeated))
    room = page_pt - first - sum(under[:repeated])
    panels: list[list[int]] = [[]]
    for index in range(repeated, len(columns)):
        if panels[-1] and sum(under[other] for other in [*panels[-1], index]) > room:
            panels.append([])
        panels[-1].append(index)
    return Layout(wide=True, stacked=True, panels=tuple((*common, *panel) for panel in panels))


def _portions(groups: list[dict[str, Any]], *, lines: int) -> list[list[dict[str, Any]]]:
    """The groups in portions that fit a page; a group may be cut. lines: that a row takes."""
    parts: list[list[dict[str, Any]]] = []
    room = 0
    for group in groups:
        rest = group["rows"]
        while rest:
            if room < 2:
                parts.append([])
                room = max(2, PAGE_LINES // lines)
            parts[-1].append(group | {"rows": rest[: room - 1]})
            rest, room = rest[room - 1 :], room - 1 - len(rest[: room - 1])
    return parts


def _panel(
    columns: list[Column], groups: list[dict[str, Any]], indices: tuple[int, ...], *, stacked: bool
) -> dict[str, Any]:
    """A tabular: columns, header from the top, groups of rows, and how many columns TeX has in it.

    A header of fewer lines stands at the bottom.
    """
    mine = [columns[index] for index in indices]
    count = max((len(column.header) for column in mine), default=0)
    padded = [[*[""] * (count - len(column.header)), *column.header] for column in mine]
    return {
        "columns": mine,
        "header": list(zip(*padded, strict=True)),
        "groups": [
            {
                "title": group["title"],
                "long": len(group["title"]) > LONG_TITLE,
                "rows": [row | {"cells": [row["cells"][index] for index in indices]} for row in group["rows"]],
            }
            for group in groups
        ],
        "width": 1 + len(mine) + (0 if stacked else sum(column.limits > 0 for column in mine)),
    }
