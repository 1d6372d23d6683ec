"""Two ratios in brackets behind a number, 23.3 (6.6x, 83 %): the second has a column of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.cells.ratio_headers import header_of_ratio
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_TWO = re.compile(
    r"(?P<number>~?\d[^()]*?) ?\((?P<first>~?[\d.]+ ?(?P<sign>[x%]))[,;/] ?"
    r"(?P<second>~?[\d.]+ ?(?P<other>[x%]))[^()]*\)",
    re.IGNORECASE,
)
_NAMES = {"x": "speedup", "%": "efficiency"}
_OF_BOTH = re.compile(r"\s*[(\[][^()\[\]]*(?:speed|effic|\beff\b|scal)[^()\[\]]*[)\]]$", re.IGNORECASE)
"""The names of both ratios in brackets behind that of their measurement."""
_FEWEST = 0.25
"""Share of the cells of a column that have two ratios. Baselines may have none."""


def with_second_ratios(table: RawTable) -> RawTable:
    """Return a table in which the second of two ratios in brackets has a column: 23.3 (6.6x, 83 %)."""
    for place in range(len(table.header) - 1, 0, -1):
        cells = table.cells(place)
        found = [one for cell in cells if (one := _TWO.fullmatch(plain(cell)))]
        signs = {(one["sign"].lower(), one["other"].lower()) for one in found}
        alike = len(signs) == 1 and len({*next(iter(signs))}) == 2
        if alike and len(found) >= _FEWEST * len(cells):
            table = _apart(table, place, _NAMES[next(iter(signs))[1]])
    return table


def _apart(table: RawTable, place: int, ratio: str) -> RawTable:
    own = _OF_BOTH.sub("", plain(table.header[place])) or plain(table.header[place])
    name = header_of_ratio(table, own, own, ratio)
    if not name:
        return table
    rows = []
    for line, cells in table.rows:
        both = _TWO.fullmatch(plain(cells[place])) if place < len(cells) else None
        pair = (f"{both['number']} ({both['first']})", both["second"]) if both else (*cells[place : place + 1], "")
        rows.append((line, (*cells[:place], *pair, *cells[place + 1 :])))
    header = (*table.header[:place], own, name, *table.header[place + 1 :])
    return replace(table, header=header, rows=tuple(rows))
