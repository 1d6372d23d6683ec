"""Two ratios in brackets behind a number, 23.3 (6.6x, 83 %): the second has a column of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.cells.ratio_headers import header_of_ratio
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_TWO = re.compile(
    r"(?P<number>~?\d[^()]*?) ?\((?P<first>~?[\d.]+ ?(?P<sign>[x%]))[,;/] ?"
    r"(?P<second>~?[\d.]+ ?(?P<other>[x%]))[^()]*\)",
    re.IGNORECASE,
)
_NAMES = {"x": "speedup", "%": "efficiency"}
_OF_BOTH = re.compile(r"\s*[(\[][^()\[\]]*(?:speed|effic|\beff\b|scal)[^()\[\]]*[)\]]$", re.IGNORECASE)
"""The names of both ratios in brackets behind that of their measurement."""
_SPEEDUP = re.compile(r"speed-?up", re.IGNORECASE)
_PER_CENT_TWICE = re.compile(r"(?P<first>~?[\d.]+ ?%) ?[/|] ?(?P<second>~?[\d.]+ ?%)")
_FEWEST = 0.25
"""Share of the cells of a column that have two ratios. Baselines may have none."""


def with_second_ratios(table: RawTable) -> RawTable:
    """Return a table in which the second of two ratios in brackets has a column: 23.3 (6.6x, 83 %)."""
    for place in range(len(table.header) - 1, 0, -1):
        cells = table.cells(place)
        found = [one for cell in cells if (one := _TWO.fullmatch(plain(cell)))]
        signs = {(one["sign"].lower(), one["other"].lower()) for one in found}
        alike = len(signs) == 1 and len({*next(iter(signs))}) == 2
        if alike and len(found) >= _FEWEST * len(cells):
            table = _apart(table, place, _NAMES[next(iter(signs))[1]])
    return table


def with_ratios_of_both(table: RawTable) -> RawTable:
    """Return a table in which two ratios of a cell, 92% / 90%, are those of the two speedups in front of them."""
    names = list(map(plain, table.header))
    speedups = [name for name in names if name.endswith(")") and meaning_of(name).role == "printed_speedup"]
    for place, header in enumerate(table.header):
        cells = table.cells(place)
        both = [_PER_CENT_TWICE.fullmatch(plain(cell)) for cell in cells]
        alike = meaning_of(header).role == "printed_efficiency" and 2 * sum(map(bool, both)) > len(cells)
        if len(speedups) != 2 or not alike:
            continue
        own = [_SPEEDUP.sub(plain(header), name) for name in speedups]
        rows = []
        for line, cells_of in table.rows:
            pair = _of_both(cells_of[place]) if place < len(cells_of) else ()
            rows.append((line, (*cells_of[:place], *pair, *cells_of[place + 1 :])))
        return replace(table, header=(*names[:place], *own, *names[place + 1 :]), rows=tuple(rows))
    return table


def _of_both(cell: str) -> tuple[str, str]:
    """The ratios of a cell; one alone is that of both."""
    both = _PER_CENT_TWICE.fullmatch(plain(cell))
    return (both["first"], both["second"]) if both else (cell, cell)


def _apart(table: RawTable, place: int, ratio: str) -> RawTable:
    own = _OF_BOTH.sub("", plain(table.header[place])) or plain(table.header[place])
    name = header_of_ratio(table, own, own, ratio)
    if not name:
        return table
    rows = []
    for line, cells in table.rows:
        both = _TWO.fullmatch(plain(cells[place])) if place < len(cells) else None
        pair = (f"{both['number']} ({both['first']})", both["second"]) if both else (*cells[place : place + 1], "")
        rows.append((line, (*cells[:place], *pair, *cells[place + 1 :])))
    header = (*table.header[:place], own, name, *table.header[place + 1 :])
    return replace(table, header=header, rows=tuple(rows))
