"""Lists of devices with plain numbers, whose unit only the line above them says: `2 GPUs: 790 (98 %)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from scalestudy.importers.headers.meaning import is_utilization, meaning_of
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.markup.listed import FEWEST, GAP, ITEM, as_item, with_counts
from scalestudy.importers.markup.naming import LONGEST, SETUP, is_number, names_devices
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.numbers.ratios_behind import with_ratios_in_one_spelling
from scalestudy.importers.published import MEASURED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import UNSAID, RawTable

_BARE = re.compile(r"~?\d[\d.,']*(?=\s*(?:[(\[|;]|$))")
"""A number without a unit, perhaps with a remark behind it."""
_ASSIGNED = re.compile(r"\s*(?P<devices>[A-Za-z_]\w{0,20} ?= ?\d{1,6})\s+(?P<rest>~?\d[\d.]*)\s*")
"""Devices by their letter or name, and a number: `T=4 12.1`."""
_LETTER = re.compile(
    rf"\s*(?P<letter>[A-Za-z]{{1,2}})\s*(?:=|:|is)\s*(?:the )?(?:number|no\.?|num|count|#) ?(?:of )?"
    rf"(?P<noun>{DEVICE}|{NODE})\W*",
    re.IGNORECASE,
)
"""A line that says what a letter is: `T = number of threads`."""


def bare_lists(lines: Sequence[str]) -> list[RawTable]:
    """Return lists of devices and numbers that do not say what they are: `1 node: 20.0`, `2 nodes: 21.8`."""
    for said in filter(None, map(_LETTER.fullmatch, lines)):
        lines = [re.sub(rf"\b{said['letter']}(?= ?= ?\d)", said["noun"], line) for line in lines]
    groups: list[dict[str, tuple[int, dict[str, str]]]] = [{}]
    for number, line in enumerate(lines, start=1):
        text = as_item(line) if len(line) <= LONGEST else ""
        item = _ASSIGNED.fullmatch(text) or ITEM.fullmatch(text)
        devices = item["devices"].strip() if item else ""
        if item is None or not names_devices(devices) or not is_number(item["rest"]):
            continue
        if devices in groups[-1] or (groups[-1] and number - max(groups[-1].values(), key=itemgetter(0))[0] > GAP):
            groups.append({})
        groups[-1][devices] = (number, {SETUP: devices, UNSAID: item["rest"]})
    found = [with_counts(list(group.values())) for group in groups if len(group) >= FEWEST]
    return [_table(rows, _line_above(lines, rows[0][0])) for rows in found]


def _table(rows: Sequence[tuple[int, dict[str, str]]], above: str) -> RawTable:
    """A list as a table. The line above is its caption, and the header of shares of the peak FLOP/s."""
    header = tuple(above if name == UNSAID and is_utilization(above) else name for name in rows[0][1])
    return RawTable(rows[0][0], header, tuple((line, tuple(row.values())) for line, row in rows), caption=above)


def with_bare_numbers(table: RawTable, lines: Sequence[str]) -> RawTable:
    """Return a list of ratios with the plain numbers in front of them, and with the lines that have no ratio."""
    counted = table.header[0] == SETUP or meaning_of(table.header[0]).role in ("gpus", "nodes")
    if any(known_role(name) in MEASURED for name in table.header) or not counted:
        return table
    rows = dict(table.rows)
    bare = {line: found for line in rows if (found := _bare(lines[line - 1]))}
    if len(bare) < len(rows):
        return table
    for start, step in ((min(rows), -1), (max(rows), 1)):
        line = start + step
        while 1 <= line <= len(lines) and (found := _bare(lines[line - 1])):
            bare[line] = found
            line += step
    nothing = ("",) * (len(table.header) - 1)
    body = tuple(
        (line, (devices, number, *(rows[line][1:] if line in rows else nothing)))
        for line, (devices, number) in sorted(bare.items())
    )
    above = _line_above(lines, body[0][0])
    header = (table.header[0], above if is_utilization(above) else UNSAID, *table.header[1:])
    return replace(table, line=body[0][0], header=header, rows=body, caption=above)


def _bare(line: str) -> tuple[str, str] | None:
    """(devices, number) of an item whose number has no unit."""
    item = ITEM.fullmatch(as_item(line)) if len(line) <= LONGEST else None
    rest = with_ratios_in_one_spelling(item["rest"], in_brackets=True) if item else ""
    if item is None or not names_devices(item["devices"].strip()) or not (found := _BARE.match(rest)):
        return None
    return item["devices"].strip(), found[0]


def _line_above(lines: Sequence[str], first: int) -> str:
    """The words above a list, after at most one empty line."""
    above = [plain(line) for line in lines[max(0, first - 3) : first - 1]]
    return next((words.rstrip(":") for words in reversed(above) if words), "") if above else ""
