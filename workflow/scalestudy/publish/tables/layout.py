"""Layouts of a table, from wide to narrow: limits beside or below values, and columns in one panel or several.

LaTeX takes the first layout that fits the page of the paper; it measures the widest rows (the ruler) of each.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scalestudy.publish.numbers.rounding import table_format
from scalestudy.publish.tables.widths import text_lines, text_pt

GAP_PT = 6.0
SCRIPT = 0.88
"""\\scriptsize over \\footnotesize."""
STUB_PT = 79.0
"""A longer name of a variant is broken into lines."""
STUB_EM = 9.3
"""The same width in the unit of LaTeX, so that it grows with the font of a class."""
NARROWEST_PT = 280.0
"""A layout of this width fits any page; narrower ones are not written."""
FIRST_LINES = {False: 36, True: 42}
"""Stacked or not -> lines of a table below its caption, on the low page of the article class. Only a table without
stacked limits can be in a column, where its caption is higher."""
NEXT_LINES = 46
"""Lines of a table on every further page."""
RULES_LINES = 2
"""The height of the rules of a panel, in lines."""


class Layout(NamedTuple):
    """An arrangement of a table."""

    stacked: bool
    """Whether limits are in a separate line below their values."""
    panels: tuple[tuple[int, ...], ...]
    """Indices of the columns of each tabular, from top to bottom."""


class Column:
    """A column: its header in lines, its siunitx format, and the widths of its longest texts in points.

    cells: `value` and `limits` as text, and `wide`, a text as wide as `limits` if that contains LaTeX commands.
    """

    def __init__(self, header: Sequence[str], cells: list[dict[str, Any]]) -> None:
        self.header = header
        self.format = table_format([cell["value"] for cell in cells])
        self.value = max((text_pt(cell["value"]) for cell in cells), default=0.0)
        self.limits = max((limits_pt(cell) for cell in cells), default=0.0)

    def width_pt(self, *, stacked: bool) -> float:
        """Width in points. Side by side, a value and its limits are two columns under one header."""
        header = max(text_pt(line) for line in self.header if not line.startswith("("))
        if stacked:
            return GAP_PT + max(header, self.value, self.limits * SCRIPT)
        return GAP_PT + max(header, self.value + (2 + self.limits if self.limits else 0))


def limits_pt(cell: dict[str, Any]) -> float:
    """The width of the limits of a cell, in points."""
    return text_pt(cell.get("wide", cell["limits"]))


def set_table(headers: Sequence[Sequence[str]], groups: list[dict[str, Any]], *, repeated: int) -> dict[str, Any]:
    """Values for report/templates/table.tex: the layouts, each with rows in portions that fit a page.

    headers: of each column, in lines. groups: title and rows, each with `variant`, `partial`, `unsteady` and
    `cells`. repeated: number of leading columns with the place of measurement; every panel begins with them.
    """
    rows = [row for group in groups for row in group["rows"]]
    columns = [Column(header, [row["cells"][index] for row in rows]) for index, header in enumerate(headers)]
    stub = max((text_pt(_name(row)) for row in rows), default=0.0)
    layouts = _layouts(min(stub, STUB_PT), columns, repeated=repeated) if rows else []
    return {
        "layouts": [_layout(columns, groups, layout, stub_pt=min(stub, STUB_PT)) for layout in layouts],
        "stub_em": STUB_EM if stub > STUB_PT else "",
        "unsteady": any(row["unsteady"] for row in rows),
    }


def _name(row: dict[str, Any]) -> str:
    """The text of a row's first cell, including the outcomes after the name."""
    return f"{row['variant']} ({row['partial']})" if row["partial"] else str(row["variant"])


def _layouts(stub_pt: float, columns: Sequence[Column], *, repeated: int) -> Iterator[Layout]:
    """Layouts from wide to narrow, until one fits any page. The panels of a layout are about equally wide."""
    whole = tuple(range(len(columns)))
    if any(column.limits for column in columns):
        yield Layout(stacked=False, panels=(whole,))
        if _width_pt(stub_pt, columns, whole, stacked=False) <= NARROWEST_PT:
            return
    widths = [column.width_pt(stacked=True) for column in columns]
    common, own = whole[:repeated], whole[repeated:]
    for count in range(1, max(1, len(own)) + 1):
        panels = tuple((*common, *panel) for panel in _balanced(own, widths, count))
        if len(panels) == count:  # otherwise as before
            yield Layout(stacked=True, panels=panels)
        if max(_width_pt(stub_pt, columns, panel, stacked=True) for panel in panels) <= NARROWEST_PT:
            return


def _width_pt(stub_pt: float, columns: Sequence[Column], indices: Sequence[int], *, stacked: bool) -> float:
    return stub_pt + sum(columns[index].width_pt(stacked=stacked) for index in indices)


def _balanced(own: Sequence[int], widths: Sequence[float], count: int) -> list[list[int]]:
    """The columns in this number of panels, in order, so that the widest panel is as narrow as possible."""
    ranges = [own[a:b] for a in range(len(own)) for b in range(a + 1, len(own) + 1)]
    rooms = sorted({sum(widths[index] for index in indices) for indices in ranges})
    found = (_filled(own, widths, room) for room in rooms if room >= max(widths[index] for index in own))
    return next((panels for panels in found if len(panels) <= count), [list(own)])


def _filled(own: Sequence[int], widths: Sequence[float], room: float) -> list[list[int]]:
    """Panels that are filled from the first one on."""
    panels: list[list[int]] = [[]]
    for index in own:
        if panels[-1] and sum(widths[other] for other in [*panels[-1], index]) > room + 1e-6:
            panels.append([])
        panels[-1].append(index)
    return panels


def _layout(
    columns: list[Column], groups: list[dict[str, Any]], layout: Layout, *, stub_pt: float
) -> dict[str, Any]:
    """A layout for the template: for each panel a ruler, and the panels of each page."""
    stacked = layout.stacked
    rows = [row for group in groups for row in group["rows"]]
    return {
        "stacked": stacked,
        "rulers": [
            _panel(columns, [{"title": "", "rows": _widest(rows, indices)}], indices, stacked=stacked)
            for indices in layout.panels
        ],
        "parts": [
            [_panel(columns, mine, layout.panels[at], stacked=stacked) | {"at": at} for at, mine in part]
            for part in _portions(columns, groups, layout, stub_pt=stub_pt)
        ],
    }


def _widest(rows: list[dict[str, Any]], indices: Sequence[int]) -> list[dict[str, Any]]:
    """The rows with the widest name and with the widest value and limits of each of these columns."""
    found = [max(rows, key=lambda row: text_pt(_name(row)))]
    for index in indices:
        found.append(max(rows, key=lambda row: text_pt(row["cells"][index]["value"])))
        found.append(max(rows, key=lambda row: limits_pt(row["cells"][index])))
    return list({id(row): row for row in found}.values())


def _portions(
    columns: list[Column], groups: list[dict[str, Any]], layout: Layout, *, stub_pt: float
) -> list[list[tuple[int, list[dict[str, Any]]]]]:
    """The panels in portions that fit a page: index and groups of each. Panels and groups can be split."""
    parts: list[list[tuple[int, list[dict[str, Any]]]]] = []
    room = 0
    for at, indices in enumerate(layout.panels):
        header = RULES_LINES + max(len(columns[index].header) for index in indices)
        width = _width_pt(stub_pt, columns, indices, stacked=layout.stacked)
        begun = False
        for group in groups:
            title = 1 + text_lines(group["title"], width)  # the rule above it is as high as a line
            titled = False
            for row in group["rows"]:
                lines = _lines(row, indices, stacked=layout.stacked)
                if room < lines + (0 if titled else title) + (0 if begun else header):
                    room = NEXT_LINES if parts else FIRST_LINES[layout.stacked]
                    parts.append([])
                    begun = titled = False
                if not begun:
                    parts[-1].append((at, []))
                    room, begun = room - header, True
                if not titled:
                    parts[-1][-1][1].append(group | {"rows": []})
                    room, titled = room - title, True
                parts[-1][-1][1][-1]["rows"].append(row)
                room -= lines
    return parts


def _lines(row: dict[str, Any], indices: Sequence[int], *, stacked: bool) -> int:
    """Number of lines of a row. Limits are below the last line of its name."""
    return text_lines(_name(row), STUB_PT) + (stacked and any(row["cells"][index]["limits"] for index in indices))


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
                "rows": [row | {"cells": [row["cells"][index] for index in indices]} for row in group["rows"]],
            }
            for group in groups
        ],
        "width": 1 + len(mine) + (0 if stacked else sum(column.limits > 0 for column in mine)),
    }
