"""Two numbers in each cell, `534.7/22.9`, of which a sentence says what they are: Time (s) / Peak Memory (GB)."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import MEASURED
from scalestudy.importers.raw import RawTable

_NAME = r"[A-Za-z][A-Za-z -]{1,30}? ?[(\[][^()\[\]/]{1,12}[)\]]"
_BOTH = re.compile(rf"(?P<first>{_NAME}) ?[/|] ?(?P<second>{_NAME})")
_NUMBER = r"~?\d[\d,.]*"
_CELL = re.compile(rf"(?P<first>{_NUMBER}) ?[/|] ?{_NUMBER}")
_MOST = 2 / 3
"""Share of the cells of a column that have two numbers."""


def with_first_of_both(table: RawTable) -> RawTable:
    """Return a table with the first of two numbers in its cells, if only that is a measurement."""
    texts = map(plain, (*table.captions, *table.beside))
    said = next((found for words in texts if (found := _BOTH.search(words))), None)
    if said is None or [meaning_of(words).role in MEASURED for words in said.groups()] != [True, False]:
        return table
    places = [place for place in range(1, len(table.header)) if _has_both(table, place)]
    if not places:
        return table
    rows = tuple(
        (line, tuple(_first(cell) if place in places else cell for place, cell in enumerate(cells)))
        for line, cells in table.rows
    )
    note = f"the second number of each cell, {said['second']}, is not read"
    return replace(table, rows=rows, opening=said["first"]).noted(note)


def _has_both(table: RawTable, place: int) -> bool:
    """Whether most cells of a column have two numbers."""
    cells = [plain(cell) for cell in table.cells(place) if not is_blank(cell)]
    return bool(cells) and sum(bool(_CELL.fullmatch(cell)) for cell in cells) >= _MOST * len(cells)


def _first(cell: str) -> str:
    found = _CELL.fullmatch(plain(cell))
    return found["first"] if found else cell
