"""Rows whose cells are below other headers than they belong to, since a cell is missing in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import is_blank, plain, read_cell
from scalestudy.importers.published import MEASURED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.raw import RawTable

_FEW = 3
"""Cells with one unit from which a number without it is that of another column."""
_FAR = 10.0
"""Factor beyond all other numbers of a column, from which the number of a short row is of another one."""


def without_moved_rows(table: RawTable) -> RawTable:
    """Return a table without such rows, with a note on each."""
    moved = dict(_with_a_unit_elsewhere(table)) | dict(_short_and_far(table))
    if not moved or len(moved) * 2 > len(table.rows):
        return table
    for line, cell in sorted(moved.items()):
        table = table.noted(f"line {line}: '{plain(cell)}' is below another header, so the row was left out")
    return replace(table, rows=tuple(row for row in table.rows if row[0] not in moved))


def _with_a_unit_elsewhere(table: RawTable) -> Iterator[tuple[int, str]]:
    """Lines with a plain number in a column of units, and with this unit in another column."""
    for place in range(len(table.header)):
        units = [quantity_of(cell) for cell in table.cells(place)]
        named = [unit for unit in units if unit]
        if len(named) < _FEW or len(set(named)) > 1 or meaning_of(named[0]).role not in MEASURED:
            continue
        for line, row in table.rows:
            bare = place < len(row) and bool(re.fullmatch(r"[\d.,]+", plain(row[place])))
            others = [cell for at, cell in enumerate(row) if at != place and quantity_of(cell) == named[0]]
            if bare and others:
                yield line, others[0]


def _short_and_far(table: RawTable) -> Iterator[tuple[int, str]]:
    """Lines with fewer cells than headers and a measurement that is far from all others of its column."""
    for place, name in enumerate(table.header):
        if meaning_of(name).role not in MEASURED:
            continue
        values = {line: value for line, row in table.rows if (value := _value(row, place)) > 0}
        whole = [values[line] for line, row in table.rows if line in values and len(row) >= len(table.header)]
        for line, row in table.rows if len(whole) > 1 else ():
            short = line in values and len(row) < len(table.header)
            if short and not min(whole) / _FAR < values[line] < max(whole) * _FAR:
                yield line, row[place]


def _value(row: tuple[str, ...], place: int) -> float:
    """The number of a cell; 0 if it has none."""
    with suppress(ValueError):
        return read_cell(row[place]).printed.value if place < len(row) and not is_blank(row[place]) else 0.0
    return 0.0
