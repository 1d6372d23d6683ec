"""Rows between measurements that have ratios of other rows: new / old speedup, shares of the peak."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import permutations
from math import isclose

from scalestudy.importers.cells import is_blank, read_cell
from scalestudy.importers.headers import is_utilization, meaning_of
from scalestudy.importers.published import STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.ratios import CLOSE
from scalestudy.importers.raw import RawTable

_MOST_ROWS = 50
"""Rows up to which the two rows of a ratio are looked for."""


def is_ratio_row(table: RawTable, cells: Sequence[str], across: Collection[int], corner: str) -> bool:
    """Return whether a row between measurements has ratios of other rows, by its label and by its numbers.

    across: places of the columns of devices. corner: what the numbers of the table measure.
    """
    ratio = meaning_of(cells[0]).role in STATED
    if corner in ("speedup", "efficiency") or not (ratio or is_utilization(cells[0])):
        return False
    filled = [place for place in across if place < len(cells) and not is_blank(cells[place])]
    signed = all(quantity_of(cells[place]) in ("speedup", "efficiency") for place in across if place < len(cells))
    return signed or (ratio and bool(filled) and _is_quotient(table, cells, filled))


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
