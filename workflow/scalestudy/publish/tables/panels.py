"""Tabulars of a table, whatever it is about: heads of columns, portions that fit a page, panels."""

from __future__ import annotations

from typing import Any

from scalestudy.publish.numbers.rounding import table_format
from scalestudy.publish.tables.layout import DIGIT_PT, STUB_CHARACTERS, Width

PAGE_LINES = 44
"""Of a table, on a page of \\footnotesize with a caption."""
LONG_TITLE = 45
"""Characters from which the title of a group is broken into lines."""


def head(header: list[str], cells: list[dict[str, str]]) -> dict[str, Any]:
    """A column: its header in lines, its siunitx format, and its width. cells: `value` and `limits` as text."""
    longest = {part: max((len(cell[part]) for cell in cells), default=0) for part in ("value", "limits")}
    words = max(len(line) for line in header if not line.startswith("("))
    return {
        "lines": header,
        "format": table_format([cell["value"] for cell in cells]),
        "limits": longest["limits"] > 0,
        "width": Width(header=words, **longest),
    }


def group_of(title: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows under a title, which is broken into lines where it is long."""
    return {"title": title, "long": len(title) > LONG_TITLE, "rows": rows}


def portions(groups: list[dict[str, Any]], *, lines: int) -> list[list[dict[str, Any]]]:
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


def panel(
    heads: list[dict[str, Any]], groups: list[dict[str, Any]], indices: tuple[int, ...], *, stacked: bool
) -> dict[str, Any]:
    """A tabular: columns, header from the top, groups of rows, and how many columns TeX has in it.

    A header of fewer lines stands at the bottom.
    """
    mine = [heads[index] for index in indices]
    count = max((len(head["lines"]) for head in mine), default=0)
    padded = [[*[""] * (count - len(head["lines"])), *head["lines"]] for head in mine]
    return {
        "columns": mine,
        "header": list(zip(*padded, strict=True)),
        "groups": [
            group
            | {"rows": [row | {"cells": [row["cells"][index] for index in indices]} for row in group["rows"]]}
            for group in groups
        ],
        "width": 1 + len(mine) + (0 if stacked else sum(head["limits"] for head in mine)),
    }


def stub_of(rows: list[dict[str, Any]]) -> int:
    """Characters of the longest name in the first column, with the outcomes that stand behind it."""
    names = [f"{row['variant']} ({row['partial']})" if row["partial"] else row["variant"] for row in rows]
    return max(map(len, names), default=0)


def stub_pt(characters: int) -> str:
    """Width of a first column whose longest name is broken, in points; '' where none is."""
    return f"{STUB_CHARACTERS * DIGIT_PT:.0f}" if characters > STUB_CHARACTERS else ""
