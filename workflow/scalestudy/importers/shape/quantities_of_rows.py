"""Names of the rows of a table with devices across, each of which has a quantity of its own: tok/s, GB/s, ms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import BEGINS_WITH_NUMBER, is_blank, plain
from scalestudy.importers.published import MEASURED, RATES, STATED
from scalestudy.importers.quantities import known_role, quantity_of
from scalestudy.importers.raw import RawTable

Row = tuple[int, tuple[str, ...]]
"""A line of a file and its cells."""
_FEW = 2
"""Units from which the rows of a table have quantities of their own."""

_WITH_UNIT = re.compile(r".*[^\W\d_].* ?[(\[](?P<unit>[^()\[\]]+)[)\]]")


def names_of_rows(table: RawTable, across: Iterable[int]) -> list[str]:
    """Return the first cell of each row, with the unit of its numbers if rows have different ones, or ratios.

    across: places of the columns of devices.
    """
    names = [row[0] if row else "" for _, row in table.rows]
    units = [_unit(row, across) for _, row in table.rows]
    several = len({unit for unit in units if unit}) >= _FEW
    if not several and not (any(units) and any(known_role(name) in STATED for name in names)):
        return names
    return [_named(name, unit) for name, unit in zip(names, units, strict=True)]


def _unit(row: tuple[str, ...], across: Iterable[int]) -> str:
    """What all numbers of a row measure by their units; '' if they have several or none."""
    named = {quantity_of(row[place]) for place in across if place < len(row) and not is_blank(row[place])}
    found = named.pop() if len(named) == 1 else ""
    return found if meaning_of(found).role in MEASURED else ""


def _named(name: str, unit: str) -> str:
    """The name of a row with its unit, if it does not say it: `Training (tok/s)`."""
    if not unit or known_role(name) in STATED or (known_role(name) in MEASURED and meaning_of(name).unit):
        return name
    inner = re.fullmatch(r"\w+ \((?P<unit>[^/()][^()]*)\)", unit)
    return (
        f"{name} ({inner['unit'] if inner else unit})" if not unit.startswith("throughput (") else f"{name} {unit}"
    )


def place_of_names(table: RawTable, others: Sequence[int]) -> int | None:
    """Return the place of a column that names what each row measures, such as img/s and hours/epoch; else None.

    others: places of the columns without devices.
    """
    for place in others:
        cells = table.cells(place)
        roles = {meaning_of(cell).role for cell in cells}
        repeated = len(set(cells)) < len(cells)  # in each section of the table
        measured = roles & {*MEASURED} and roles <= {*MEASURED, *(STATED if repeated else ())}
        if any(map(BEGINS_WITH_NUMBER.match, cells)):
            continue  # a measurement, `3.17 times`, and no name of one
        if len(cells) == len(table.rows) and len(set(cells)) > 1 and measured and not quantity_of_names(cells):
            return place
    return None


def quantity_of_names(cells: Sequence[str]) -> str:
    """Return the rate that all names of rows end with, such as `BERT (seq/s)` and `GPT (seq/s)`; '' for others."""
    units = {found["unit"] if (found := _WITH_UNIT.fullmatch(plain(cell))) else "" for cell in cells}
    unit = units.pop() if len(units) == 1 and len(set(cells)) > 1 else ""
    return f"throughput ({unit})" if meaning_of(unit).role in RATES else ""


def in_one_row(rows: Sequence[tuple[int, tuple[str, ...]]], quantities: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return rows with equal labels and devices as one.

    quantities: how many cells at the end of a row are measurements. Each is taken from the row that has it.
    """
    found: dict[tuple[str, ...], tuple[int, tuple[str, ...]]] = {}
    for line, cells in rows:
        labels, own = cells[:-quantities], cells[-quantities:]
        first, known = found.get(labels, (line, ("",) * quantities))
        found[labels] = (
            first,
            tuple(one if is_blank(other) else other for one, other in zip(known, own, strict=True)),
        )
    return [(line, (*labels, *values)) for labels, (line, values) in found.items()]
