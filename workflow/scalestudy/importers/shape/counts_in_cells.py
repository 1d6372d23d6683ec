"""Cells that list a measurement for each number of devices: `1pc: 97 ms/step; 8pcs: 99 ms/step` beside `Speed`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.raw import RawTable

_PART = re.compile(
    rf"(?P<count>\d{{1,6}}) ?(?:x ?)?(?P<noun>pcs?|p|\u5361|{DEVICE}) ?[:=\uff1a] ?(?P<value>~?\d.*)",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\s*[;\uff1b]\s*|\s*[,\uff0c]\s+(?=\d{1,6} ?[a-z\u5361]+ ?[:=\uff1a])|\s+(?=\d{1,6} ?pcs? ?[:=])",
    re.IGNORECASE,
)
_OF_NO_KIND = ("pc", "pcs", "p", "\u5361")
_SETUP = "setup"


def with_counts_in_cells(table: RawTable) -> RawTable:
    """Return a table with a row for each setup and number of devices, if cells list a measurement for each.

    The first cell of a row names the quantity. A batch in a row of its own is that of all numbers of devices.
    """
    lists = {line: [_listed(cell) for cell in cells] for line, cells in table.rows}
    listed = [line for line, _ in table.rows if any(len(one) > 1 for one in lists[line][1:])]
    measured = [any(quantity_of(value) for one in lists[line] for value in one.values()) for line in listed]
    if not listed or not all(measured):
        return table
    names = {line: cells[0] for line, cells in table.rows if cells}
    batches = [(line, cells) for line, cells in table.rows if meaning_of(names.get(line, "")).role in BATCHES]
    rows: list[tuple[int, tuple[str, ...]]] = []
    for place, setup in enumerate(table.header[1:], start=1):
        own = {line: lists[line][place] if place < len(lists[line]) else {} for line in listed}
        beside = [cells[place] if place < len(cells) else "" for _, cells in batches]
        for count in dict.fromkeys(count for values in own.values() for count in values):
            rows.append((listed[0], (setup, count, *beside, *(own[line].get(count, "") for line in listed))))
    header = (_SETUP, _noun(table), *(names[line] for line, _ in batches), *(names[line] for line in listed))
    return replace(table, header=header, rows=tuple(rows))


def _noun(table: RawTable) -> str:
    """What the cells count; `devices` if they say no more than pieces."""
    found = [
        part
        for _, cells in table.rows
        for cell in cells[1:]
        for part in map(_PART.match, _APART.split(plain(cell)))
    ]
    named = {part["noun"].lower() for part in found if part} - {*_OF_NO_KIND}
    return min(named, default="devices")


def _listed(cell: str) -> dict[str, str]:
    """Number of devices -> measurement of a cell; empty if it is no such list."""
    parts = [_PART.fullmatch(part) for part in _APART.split(plain(cell).strip(" ;,.")) if part]
    return {part["count"]: part["value"] for part in parts if part} if all(parts) else {}
