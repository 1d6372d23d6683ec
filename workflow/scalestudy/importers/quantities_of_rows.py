"""Names of the rows of a table with devices across, each of which has a quantity of its own: tok/s, GB/s, ms."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scalestudy.importers.cells import is_blank
from scalestudy.importers.headers import meaning_of
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role, quantity_of
from scalestudy.importers.raw import RawTable

_FEW = 2
"""Units from which the rows of a table have quantities of their own."""


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
