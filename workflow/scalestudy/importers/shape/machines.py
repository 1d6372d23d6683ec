"""Machines with their number beside the devices of each: `4 x NVIDIA DGX-1` beside 8 GPUs are 32."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import NODE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_MACHINES = re.compile(
    rf"(?P<count>\d{{1,4}}) ?x? ?(?P<name>.*\b(?:dgx|hgx|superpod|{NODE})(?![a-z]).*)", re.IGNORECASE
)
_FEW = 2


def with_machines_as_nodes(table: RawTable) -> RawTable:
    """Return a table with a column of nodes, if one names machines with their number and another what each has.

    So it is if each kind of machine has one number of devices, also where several of them are used.
    """
    devices = [place for place, name in enumerate(table.header) if meaning_of(name).role == "gpus"]
    for place, _ in enumerate(table.header) if len(devices) == 1 else ():
        found = [_MACHINES.fullmatch(plain(row[place])) if place < len(row) else None for _, row in table.rows]
        if place == devices[0] or len(found) < _FEW or not all(found):
            continue
        sizes: dict[str, tuple[set[str], set[str]]] = {}
        for one, (_, row) in zip(found, table.rows, strict=True):
            if one is None or devices[0] >= len(row):
                return table
            counts, each = sizes.setdefault(one["name"].strip().lower(), (set(), set()))
            counts.add(one["count"])
            each.add(plain(row[devices[0]]))
        several = any(len(counts) >= _FEW for counts, _ in sizes.values())
        if several and all(len(each) == 1 for _, each in sizes.values()):
            return _split(table, place, devices[0])
    return table


def _split(table: RawTable, place: int, devices: int) -> RawTable:
    header = [*table.header]
    header[devices] = "GPUs per node"
    header[place : place + 1] = ["nodes", table.header[place]]
    rows = []
    for line, row in table.rows:
        one = _MACHINES.fullmatch(plain(row[place]))
        parts = (one["count"], one["name"].strip()) if one else ("", row[place])
        rows.append((line, (*row[:place], *parts, *row[place + 1 :])))
    words = f"{plain(table.header[devices])} are those of each machine in {plain(table.header[place])}"
    return replace(table, header=tuple(header), rows=tuple(rows)).noted(words)
