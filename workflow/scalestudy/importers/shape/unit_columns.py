"""Columns that name the unit of the numbers beside them: `Score | Units` above `1200.1 | ops/s`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED
from scalestudy.importers.raw import RawTable

_UNITS = re.compile(r"(?:time ?)?units?|uom|measured in")
_NUMBERS = re.compile(r"(?:real ?time|score|value|result|measurement|mean|average|avg|median|performance)s?")
_SPREAD = re.compile(r"\s*\u00b1\s*$")
"""The sign of a spread whose number is in the next cell."""
_PER_WORK = re.compile(r"(?P<time>ns|us|\u00b5s|ms|s|secs?|min) ?(?:/|per) ?[a-z]+", re.IGNORECASE)


def with_unit_of_a_column(table: RawTable) -> RawTable:
    """Return a table whose only unit is in the header of its numbers instead of a column."""
    names = [normal(name) for name in table.header]
    units = [at for at, name in enumerate(names) if _UNITS.fullmatch(name)]
    numbers = [at for at, name in enumerate(names) if _NUMBERS.fullmatch(name)]
    if len(units) != 1 or len(numbers) != 1:
        return table
    (unit,), (place,) = units, numbers
    found = {plain(cell) for cell in table.cells(unit)}
    if len(found) != 1:
        return table
    words = found.pop()
    per = _PER_WORK.fullmatch(words)
    name = f"time ({per['time']})" if per else next((n for n in (words, f"time ({words})") if _measures(n)), "")
    if not name:
        return table
    rows = tuple(
        (
            line,
            tuple(_SPREAD.sub("", cell) if at == place else cell for at, cell in enumerate(cells) if at != unit),
        )
        for line, cells in table.rows
    )
    header = tuple(name if at == place else one for at, one in enumerate(table.header) if at != unit)
    whole = replace(table, header=header, rows=rows)
    return whole if share(whole.cells(place - (unit < place)), read_cell) else table


def _measures(name: str) -> bool:
    meaning = meaning_of(name)
    return meaning.role in MEASURED and bool(meaning.unit)
