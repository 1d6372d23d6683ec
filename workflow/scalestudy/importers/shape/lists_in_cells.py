"""Rows that list several numbers of devices, and a measurement for each: `1 / 2 / 4` beside `26 / 71 / 184`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.raw import RawTable

_DEVICES = re.compile(r"\d{1,6}(?: ?[/,;|] ?\d{1,6})+")
_APART = re.compile(r" ?[/;|] ?|, (?=[~\d])")
_MOST = 20


def with_lists_in_cells(table: RawTable) -> RawTable:
    """Return a table with a row for each number of devices that a cell lists, if measurements are listed alike."""
    devices = [place for place, name in enumerate(table.header) if meaning_of(name).role in ("gpus", "nodes")]
    if len(devices) != 1:
        return table
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        listed = plain(cells[devices[0]]) if devices[0] < len(cells) else ""
        parts = [_APART.split(plain(cell)) for cell in cells]
        sizes = re.split(r" ?[/,;|] ?", listed) if _DEVICES.fullmatch(listed) else []
        alike = [place for place, one in enumerate(parts) if len(one) == len(sizes) and share(one, read_cell) == 1]
        if not 1 < len(sizes) <= _MOST or not set(alike) - {devices[0]}:
            rows.append((line, cells))
            continue
        for at, size in enumerate(sizes):
            own = (parts[place][at] if place in alike else cell for place, cell in enumerate(cells))
            rows.append((line, tuple(size if place == devices[0] else cell for place, cell in enumerate(own))))
    return replace(table, rows=tuple(rows))
