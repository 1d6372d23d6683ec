"""Cells with several named values, `FPS=330, Time=4d3h`: a column for each name."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.raw import RawTable

_PAIR = re.compile(r"(?P<name>[^\W\d_][\w@./ -]{0,24}?) ?[=:\uff1a] ?(?P<value>[^,;=\uff0c\uff1b]+)")
_BETWEEN = re.compile(r"\s*[,;\uff0c\uff1b]\s*(?=[^\W\d_])")
_FEW = 2


def with_named_values(table: RawTable) -> RawTable:
    """Return a table in which each name of such a column is a column, if all of its cells have the same names."""
    for place in range(len(table.header)):
        cells = [dict(_pairs(cell)) for cell in table.cells(place)]
        names = list(cells[0]) if cells else []
        if len(names) < _FEW or any(list(cell) != names for cell in cells):
            continue
        header = plain(table.header[place]) if place else ""
        whole = (
            *table.header[:place],
            *(f"{header} {name}".strip() for name in names),
            *table.header[place + 1 :],
        )
        rows = tuple(
            (line, (*row[:place], *_values(row[place], names), *row[place + 1 :]) if place < len(row) else row)
            for line, row in table.rows
        )
        return with_named_values(replace(table, header=whole, rows=rows))
    return table


def _pairs(cell: str) -> list[tuple[str, str]]:
    """The names and values of a cell; none if a part of it is something else."""
    found = [_PAIR.fullmatch(part.strip()) for part in _BETWEEN.split(plain(cell))]
    return [(one["name"], one["value"].strip()) for one in found if one] if all(found) else []


def _values(cell: str, names: list[str]) -> list[str]:
    values = {} if is_blank(cell) else dict(_pairs(cell))
    return [values.get(name, "") for name in names]
