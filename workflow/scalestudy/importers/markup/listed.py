"""Finds measurements that a text lists without a table: a line per number of devices, with names or a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.cells import plain, read_cell
from scalestudy.importers.counts import read_count
from scalestudy.importers.headers import meaning_of
from scalestudy.importers.layout import quantity_of
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

LONGEST = 500
"""Characters of a line that lists a measurement."""
_PAIR = re.compile(
    r"(?P<name>[A-Za-z#][\w #/()%-]{0,40}?)\s*(?:=|:)\s*(?P<value>(?:[^,;|=:]|(?<=\d),(?=\d))+?)"
    r"(?=\s*(?:(?<!\d),|,(?!\d)|[;|]|$|\s[A-Za-z_][\w/%.-]*\s?[=:]))"
)
_ITEM = re.compile(
    r"\s*(?:[-*+\u2022]|\d{1,2}[.)])?\s*(?P<devices>[^:=]{1,60}?)\s*"
    r"(?::|=>|->|\u2192|=|\u2014|\u2013| - )\s*(?P<rest>\S.*)"
)
_PART = re.compile(r"(?:(?<!\d),|,(?!\d)|[;()])\s*|\s+(?=~?\d[\d.]*\s*[x%\u00d7](?:\W|$))")
"""What separates the measurements of an item. A comma between digits is part of a number."""
_GAP = 3
"""Lines between two items of one list, at most."""


def listed_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the measurements of a text: `gpus=4 throughput=900`, or `- 4 GPUs: 900 img/s (3.6x)`."""
    return _tables(_of_pairs(lines)) or _tables(_of_items(lines))


def _tables(rows: list[tuple[int, dict[str, str]]]) -> list[RawTable]:
    """Tables of lines with equal names that follow each other."""
    groups: list[list[tuple[int, dict[str, str]]]] = []
    for line, row in rows:
        last = groups[-1][-1] if groups else None
        same = last is not None and line - last[0] <= _GAP and next(iter(last[1])) == next(iter(row))
        if same:
            groups[-1].append((line, row))
        else:
            groups.append([(line, row)])
    found = []
    for group in groups:
        names = list(dict.fromkeys(name for _, row in group for name in row))
        roles = {meaning_of(name).role for name in names}
        devices = {
            row.get(name) for _, row in group for name in names if meaning_of(name).role in ("gpus", "nodes")
        }
        if len(devices) > 1 and roles & {*MEASURED, *STATED}:
            body = tuple((line, tuple(row.get(name, "") for name in names)) for line, row in group)
            found.append(RawTable(group[0][0], tuple(names), body))
    return found


def _of_pairs(lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Lines of names with values, one of them of devices."""
    rows = []
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST:
            continue
        pairs = {found["name"].strip(): found["value"].strip() for found in _PAIR.finditer(plain(line))}
        if len(pairs) > 1 and any(meaning_of(name).role in ("gpus", "nodes") for name in pairs):
            rows.append((number, pairs))
    return rows


def _of_items(lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Lines that name devices and then a measurement with its unit, and perhaps a ratio in brackets."""
    rows = []
    for number, line in enumerate(lines, start=1):
        item = _ITEM.fullmatch(plain(line)) if len(line) <= LONGEST else None
        if item is None or item["devices"].strip().isdecimal() or not _is_count(item["devices"]):
            continue
        row = {"gpus": item["devices"].strip()}
        for part in re.split(
            r"(?:(?<!\d),|,(?!\d)|[;()])\s*|\s+(?=~?\d[\d.]*\s*[x%\u00d7](?:\W|$))", item["rest"]
        ):
            words = quantity_of(part) if part else ""
            if words:
                row.setdefault(words, part)
        if len(row) > 1:
            rows.append((number, row))
    return rows


def _is_count(text: str) -> bool:
    try:
        read_count(text)
    except ValueError:
        return False
    return not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        return not read_cell(text).unit
    except ValueError:
        return False
