"""Layout of a table so that it fits: one or both columns of a page, limits beside or below values, panels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scalestudy.publish.numbers.rounding import table_format
from scalestudy.publish.papers import Paper

DIGIT_PT, LIMIT_PT, GAP_PT = 4.4, 3.7, 6.0  # at \footnotesize of a 10 pt class
SPARE = 0.96  # share of a width that is used, since these widths are estimates
SCRIPT = 0.88  # \scriptsize over \footnotesize
STUB_CHARACTERS = 18
"""A longer name of a variant is broken at its hyphens."""
PAGE_LINES = 44
"""Lines of a table on a page, in \\footnotesize and with a caption."""
LONG_TITLE = 45
"""A longer title of a group is broken into lines."""


@dataclass(frozen=True)
class Layout:
    """The placement of a table. It takes one column of the page if it fits."""

    wide: bool
    stacked: bool
    """Whether limits are in a separate line below their values."""
    panels: tuple[tuple[int, ...], ...]
    """Indices of the columns of each tabular, from top to bottom."""

    @property
    def environment(self) -> str:
        return "table*" if self.wide else "table"


class Column:
    """A column: its header in lines, its siunitx format, and the lengths of its longest texts in characters.

    cells: `value` and `limits` as text, and `wide`, a text as wide as `limits` if that contains LaTeX commands.
    """

    def __init__(self, header: Sequence[str], cells: list[dict[str, Any]]) -> None:
        self.header = header
        self.format = table_format([cell["value"] for cell in cells])
        self.value = max((len(cell["value"]) for cell in cells), default=0)
        self.limits = max((len(cell.get("wide", cell["limits"])) for cell in cells), default=0)

    def width_pt(self, *, stacked: bool) -> float:
        """Width in points. Side by side, a value and its limits are two columns under one header."""
        words = max(len(line) for line in self.header if not line.startswith("("))
        header, value, limits = words * DIGIT_PT, self.value * DIGIT_PT, self.limits * LIMIT_PT
        if stacked:
            return GAP_PT + max(header, value, limits * SCRIPT)
        return GAP_PT + max(header, value + (2 + limits if limits else 0))


def set_table(
    headers: Sequence[Sequence[str]], groups: list[dict[str, Any]], *, repeated: int, paper: Paper
) -> dict[str, Any]:
    """Values for report/templates/table.tex: rows in tabulars that fit a paper and in portions that fit a page.

    headers: of each column, in lines. groups: title and rows, each with `variant`, `partial`, `unsteady` and
    `cells`. repeated: number of leading columns with the place of measurement; every panel begins with them.
    """
    rows = [row for group in groups for row in group["rows"]]
    columns = [Column(header, [row["cells"][index] for row in rows]) for index, header in enumerate(headers)]
    # The longest name in the first column, including the outcomes after it.
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
    """The narrowest layout that fits. stub: characters of the longest first cell."""
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
    """The groups in portions that fit a page; a group can be split. lines: lines per row."""
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
    """A tabular: columns, header lines from the top, groups of rows, and its number of TeX columns.

    Headers with fewer lines are aligned at the bottom.
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
