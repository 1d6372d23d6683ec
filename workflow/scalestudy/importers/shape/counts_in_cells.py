"""Cells that list a measurement for each number of devices: `1pc: 97 ms/step; 8pcs: 99 ms/step` beside `Speed`.

The devices may be behind, in brackets: `410 img/s (1 GPU) -> 779 img/s (2 GPUs)`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.languages import in_english
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.raw import RawTable

_PART = re.compile(
    rf"(?P<count>\d{{1,6}}|\u5355|single) ?(?:x ?)?(?P<noun>pcs?|p|\u5361|{DEVICE}) ?[:=\uff1a] ?"
    r"(?P<value>~?\d.*)",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    rf"(?P<value>~?\d[^()]*?) ?\((?:on )?(?P<count>\d{{1,6}}) ?(?:x ?)?(?P<noun>{DEVICE})\)", re.IGNORECASE
)
_APART = re.compile(
    r"\s*(?:->|=>|\u2192)\s*|(?<=\))\s*[,/]\s*|\s*[;\uff1b]\s*|"
    r"\s*(?:,\s|\uff0c)\s*(?=(?:\d{1,6}|\u5355) ?[a-z\u5361]+ ?[:=\uff1a])|\s+(?=\d{1,6} ?pcs? ?[:=])",
    re.IGNORECASE,
)
_OF_NO_KIND = ("pc", "pcs", "p", "\u5361")
_ONE = {"\u5355": "1", "single": "1"}
_SETUP = "setup"


def with_counts_in_cells(table: RawTable) -> RawTable:
    """Return a table with a row for each setup and number of devices, if cells list a measurement for each.

    The first cell of a row names the quantity, or the header of the column does. A batch in a row of its own is
    that of all numbers of devices.
    """
    if below := _below_quantities(table):
        return below
    lists = {line: [_listed(cell) for cell in cells] for line, cells in table.rows}
    listed = [line for line, _ in table.rows if any(len(one) > 1 for one in lists[line][1:])]
    measured = [any(quantity_of(value) for one in lists[line] for value in one.values()) for line in listed]
    if not listed or not all(measured):
        return table
    names = {line: cells[0] for line, cells in table.rows if cells}
    batches = [(line, cells) for line, cells in table.rows if meaning_of(names.get(line, "")).role in BATCHES]
    rows: list[tuple[int, tuple[str, ...]]] = []
    for place, setup in enumerate(_setups(table), start=1):
        own = {line: lists[line][place] if place < len(lists[line]) else {} for line in listed}
        beside = [cells[place] if place < len(cells) else "" for _, cells in batches]
        for count in dict.fromkeys(count for values in own.values() for count in values):
            rows.append((listed[0], (setup, count, *beside, *(own[line].get(count, "") for line in listed))))
    header = (_SETUP, _noun(table), *(names[line] for line, _ in batches), *(names[line] for line in listed))
    return replace(table, header=header, rows=tuple(rows))


def _setups(table: RawTable) -> list[str]:
    """The names of the setups. Equal headers get the first words of a row that differ, such as the hardware."""
    names = [plain(name) for name in table.header[1:]]
    if len(set(names)) == len(names):
        return names
    for _, cells in table.rows:
        words = [re.split(r"[;,]", plain(cell))[0] for cell in cells[1:]]
        told = [f"{name} {own}" for name, own in zip(names, words, strict=False)]
        if len(set(told)) == len(names) and all(re.match("[A-Za-z]", own) for own in words):
            return told
    return names


def _below_quantities(table: RawTable) -> RawTable | None:
    """A table whose columns of quantities have lists in all cells, with a row for each number of devices."""
    lists = {
        place: [_listed(cells[place] if place < len(cells) else "") for _, cells in table.rows]
        for place, name in enumerate(table.header)
        if meaning_of(name).role in (*MEASURED, *STATED)
    }
    lists = {place: found for place, found in lists.items() if all(len(one) > 1 for one in found)}
    if not lists or not table.rows:
        return None
    rows = [
        (line, (count, *(lists[at][row].get(count, "") if at in lists else cell for at, cell in enumerate(cells))))
        for row, (line, cells) in enumerate(table.rows)
        for count in dict.fromkeys(count for found in lists.values() for count in found[row])
    ]
    return replace(table, header=(_noun(table), *table.header), rows=tuple(rows))


def _noun(table: RawTable) -> str:
    """What the cells count; `devices` if they say no more than pieces."""
    found = [
        part for _, cells in table.rows for cell in cells[1:] for part in map(_matched, _APART.split(plain(cell)))
    ]
    named = {part["noun"].lower() for part in found if part} - {*_OF_NO_KIND}
    return min(named, default="devices")


def _listed(cell: str) -> dict[str, str]:
    """Number of devices -> measurement of a cell; empty if it is no such list."""
    parts = [_matched(part) for part in _APART.split(plain(cell).strip(" ;,.")) if part]
    found = {_ONE.get(part["count"].lower(), part["count"]): part["value"] for part in parts if part}
    return {count: _in_english(value) for count, value in found.items()} if all(parts) else {}


def _in_english(value: str) -> str:
    """A measurement with the words of its unit in English: 795 ms/step."""
    return value if value.isascii() else re.sub(r" ?/ ?", "/", in_english(value.lower()))


def _matched(part: str) -> re.Match[str] | None:
    return _PART.fullmatch(part) or _BEHIND.fullmatch(part)
