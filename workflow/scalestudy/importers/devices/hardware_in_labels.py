"""Labels that are the kind of hardware with its number: `H200 x 8` beside 8, and `NPU-8p`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import Meaning, meaning_of, normal
from scalestudy.importers.headers.terms import HARDWARE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_HARDWARE = "hardware"
_SLICE = re.compile(r"(?P<kind>v\d\w*?)-\d{1,5}")
"""A slice of TPUs, whose name has their number: v5p-64."""
_NUMBERED = re.compile(r"(?P<kind>\S.*[A-Za-z]\w*?)[-_ ]?(?P<count>\d{1,5})")
"""A machine whose name ends with its devices: IPU-POD16, Cloud TPU v3-32."""
_PIECES = re.compile(
    r"(?P<kind>[A-Za-z][\w. ]{1,20}?)[-_ ](?P<count>\d{1,4})p(?:cs?)?|"
    r"(?P<before>\d{1,4})p(?:cs?)?[-_ ](?P<behind>[^\W\d][\w. ]{1,20})",
    re.IGNORECASE,
)
"""A kind of device and how many pieces of it: NPU-8p."""
_FIRST = 3
"""Columns at the left that labels may be in."""


def with_hardware_of_labels(table: RawTable) -> RawTable:
    """Return a table whose labels are the hardware, if each says no more than that and the devices of its row."""
    devices = [
        place
        for place, name in enumerate(table.header)
        if meaning_of(name).role == "gpus" and normal(name) != "n"  # of repeats
    ]
    roles = {meaning_of(name).role for name in table.header}
    if len(devices) != 1 or not table.rows:
        return table
    for place in range(min(_FIRST, devices[0])):
        role = meaning_of(table.header[place]).role
        if role not in (("label", "ignore", "strategy", "case") if _HARDWARE not in roles else (_HARDWARE,)):
            continue
        pairs = [(plain(row[place]), plain(row[devices[0]])) for _, row in table.rows if len(row) > devices[0]]
        counts = [count_or_none(label) for label, _ in pairs]
        alike = len(pairs) == len(table.rows) and all(
            count and not (count.words or count.comment or count.model) and str(count.gpus) == own
            for count, (_, own) in zip(counts, pairs, strict=True)
        )
        numbered = [(_NUMBERED.fullmatch(label), count_or_none(own)) for label, own in pairs]
        machines = [one["kind"] for one, own in numbered if one and own and own.gpus == int(one["count"])]
        of_machines = role == _HARDWARE and len(machines) == len(table.rows) > len(set(machines)) == 1
        slices = [_SLICE.fullmatch(label) for label, _ in pairs]
        kinds = [
            one["kind"] if one else count.hardware if count else ""
            for one, count in zip(slices, counts, strict=True)
        ]
        kinds = machines if of_machines else kinds
        named = [kind for kind in kinds if kind]
        known = of_machines or all(slices) or all(re.search(HARDWARE, kind, re.IGNORECASE) for kind in named)
        if not (alike or of_machines) or not named or not known:
            continue
        if "" in kinds[kinds.index(named[0]) :]:
            continue  # a blank cell would be that of the row above
        rows = tuple(
            (line, (*row[:place], kind, *row[place + 1 :]))
            for (line, row), kind in zip(table.rows, kinds, strict=True)
        )
        header = (*table.header[:place], _HARDWARE, *table.header[place + 1 :])
        return replace(table, header=header, rows=rows).noted(f"{plain(table.header[place])} names the hardware")
    return table


def hardware_of_devices(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out the names of machines, each in one row, beside devices that all name their kind: `8x H100`."""
    devices = [place for place, one in enumerate(meanings) if one.role == "gpus"]
    counts = [count_or_none(cell) for cell in raw.cells(devices[0])] if len(devices) == 1 else []
    if len(counts) < len(raw.rows) or not all(count and count.hardware for count in counts):
        return meanings
    return [
        replace(one, role="ignore")
        if one.role == _HARDWARE and len(set(raw.cells(at))) == len(raw.rows) and normal(one.header) not in said
        else one
        for at, one in enumerate(meanings)
    ]


def with_pieces(table: RawTable) -> RawTable:
    """Return a table with columns of hardware and devices instead of labels that name both: `GPU-1p`, `NPU-8p`."""
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header):
        return table
    for place in range(min(_FIRST, len(table.header))):
        found = [_PIECES.fullmatch(plain(row[place])) if place < len(row) else None for _, row in table.rows]
        parts = [(one["kind"] or one["behind"], one["count"] or one["before"]) for one in found if one]
        if len(parts) < len(table.rows) or len({count for _, count in parts}) < 2:
            continue
        rows = tuple(
            (line, (*row[:place], *own, *row[place + 1 :]))
            for (line, row), own in zip(table.rows, parts, strict=True)
        )
        header = (*table.header[:place], _HARDWARE, "devices", *table.header[place + 1 :])
        return replace(table, header=header, rows=rows)
    return table
