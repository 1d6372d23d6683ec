"""Columns behind those of devices that are of no number of devices, or of one that no header names."""

from __future__ import annotations

from collections.abc import Iterable

from scalestudy.importers.headers.meaning import TEXTS, meaning_of
from scalestudy.importers.numbers.printed import read_cell, share
from scalestudy.importers.published import MEASURED
from scalestudy.importers.quantities import name_of, quantity_of
from scalestudy.importers.raw import RawTable

_MOST = 0.5
"""Share of the cells of a column that are numbers if it is one of measurements."""


def is_of_one_size(table: RawTable, place: int, across: Iterable[int]) -> bool:
    """Return whether a column behind those of devices is a further measurement, of a size that it may name.

    It is one by its header, or by the unit that its cells have in common with those of devices: CUDA.
    """
    if place < max(across):
        return False
    role = meaning_of(table.header[place]).role
    if role in MEASURED:
        return share(table.cells(place), read_cell) > _MOST
    own = {name_of(cell) for cell in table.cells(place)}
    others = {name_of(cell) for at in across for cell in table.cells(at)}
    return role in ("ignore", *TEXTS) and own == others and len(own) == 1 and own != {""}


def is_without_number(table: RawTable, place: int) -> bool:
    """Return whether a column is of devices by its header, `Max Threads`, and its cells are measurements."""
    cells = table.cells(place)
    return (
        meaning_of(table.header[place]).role in ("gpus", "nodes") and bool(cells) and all(map(quantity_of, cells))
    )
