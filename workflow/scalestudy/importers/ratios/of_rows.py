"""Rows of another quantity than their table: ratios of other rows, shares of the peak, times between ratios."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import permutations
from math import isclose

from scalestudy.importers.headers.meaning import is_utilization, meaning_of
from scalestudy.importers.numbers.printed import is_blank, read_cell
from scalestudy.importers.published import STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.raw import RawTable

_RATIOS = ("speedup", "efficiency")
_MOST_ROWS = 50
"""Rows up to which the two rows of a ratio are looked for."""


def without_foreign_rows(table: RawTable, across: Collection[int], corner: str) -> RawTable:
    """Return a table without rows with ratios of others between measurements, or without ratios between ratios.

    The latter are named in a note. across: places of the columns of devices. corner: what the numbers measure.
    """
    notes = [table.note]
    if corner in _RATIOS:
        foreign = [not _signed(cells, across) for _, cells in table.rows]
        foreign = foreign if 2 * sum(foreign) < len(foreign) else [False] * len(foreign)
        lines = [line for (line, _), left_out in zip(table.rows, foreign, strict=True) if left_out]
        notes += [f"line {line} has no ratios as the others do and was left out" for line in lines]
    else:
        foreign = [bool(cells) and _has_ratios(table, cells, across) for _, cells in table.rows]
    rows = tuple(row for row, left_out in zip(table.rows, foreign, strict=True) if not left_out)
    return replace(table, rows=rows, note="; ".join(filter(None, notes)))


def _has_ratios(table: RawTable, cells: Sequence[str], across: Collection[int]) -> bool:
    """Whether a row between measurements has ratios of other rows, by its label and by its numbers."""
    ratio = meaning_of(cells[0]).role in STATED
    if not (ratio or is_utilization(cells[0])):
        return False
    filled = [place for place in across if place < len(cells) and not is_blank(cells[place])]
    return _signed(cells, across) or (ratio and bool(filled) and _is_quotient(table, cells, filled))


def _signed(cells: Sequence[str], across: Collection[int]) -> bool:
    """Whether the numbers of a row have the sign of a ratio: 93 %, 1.9x."""
    filled = [cells[place] for place in across if place < len(cells) and not is_blank(cells[place])]
    return bool(filled) and all(quantity_of(cell) in _RATIOS for cell in filled)


def _is_quotient(table: RawTable, cells: Sequence[str], places: Sequence[int]) -> bool:
    """Whether a row has the quotients of two other rows, each in its column."""
    rows = [row for _, row in table.rows if row is not cells and len(row) == len(cells)]
    return len(rows) <= _MOST_ROWS and any(
        all(_is_ratio(cells[place], row[place], other[place]) for place in places)
        for row, other in permutations(rows, 2)
    )


def _is_ratio(cell: str, above: str, below: str) -> bool:
    try:
        said, first, second = (read_cell(one).printed.value for one in (cell, above, below))
    except ValueError:
        return False
    return second > 0 and isclose(first / second, said, rel_tol=CLOSE)
