"""Columns with a rate of each device and one of all: 3,170 / 25,360 below `Tokens/s (per GPU / total)`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.cells import is_blank, plain
from scalestudy.importers.raw import RawTable
from scalestudy.importers.terms import DEVICE

_EACH = rf"(?:per |/ ?){DEVICE}"
_ALL = r"(?:total|overall|aggregated?|global|all(?: \w+)?)"
_HEADER = re.compile(
    rf"(?P<name>.+?)[,:]? *[(\[]?(?P<first>{_EACH}|{_ALL}) *[/|,] *(?P<second>{_EACH}|{_ALL})[)\]]?", re.IGNORECASE
)
_CELL = re.compile(r"(?P<first>[^/|]*\d[^/|]*?) *[/|] *(?P<second>[^/|]*\d[^/|]*)")


def with_pairs(table: RawTable) -> RawTable:
    """Return a table in which such a column is two: `Tokens/s per GPU` and `Tokens/s total`."""
    for place, header in enumerate(table.header):
        named = _HEADER.fullmatch(plain(header))
        cells = table.cells(place)
        if not named or not cells or not all(_CELL.fullmatch(plain(cell)) for cell in cells):
            continue
        names = tuple(f"{named['name']} {named[which]}" for which in ("first", "second"))
        rows = tuple(
            (line, (*row[:place], *_parts(row[place]), *row[place + 1 :]) if place < len(row) else row)
            for line, row in table.rows
        )
        header_of_two = (*table.header[:place], *names, *table.header[place + 1 :])
        return with_pairs(replace(table, header=header_of_two, rows=rows))
    return table


def _parts(cell: str) -> tuple[str, str]:
    found = None if is_blank(cell) else _CELL.fullmatch(plain(cell))
    return (found["first"], found["second"]) if found else (cell, "")
