"""Labels that are the kind of hardware with its number: `H200 x 8` beside 8, and `NPU-8p`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import HARDWARE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_HARDWARE = "hardware"
_PIECES = re.compile(r"(?P<kind>[A-Za-z][\w. ]{1,20}?)[-_ ](?P<count>\d{1,4})p(?:cs?)?", re.IGNORECASE)
"""A kind of device and how many pieces of it: NPU-8p."""
_FIRST = 3
"""Columns at the left that labels may be in."""


def with_hardware_of_labels(table: RawTable) -> RawTable:
    """Return a table whose labels are the hardware, if each says no more than that and the devices of its row."""
    devices = [place for place, name in enumerate(table.header) if meaning_of(name).role == "gpus"]
    roles = {meaning_of(name).role for name in table.header}
    if len(devices) != 1 or _HARDWARE in roles or not table.rows:
        return table
    for place in range(min(_FIRST, devices[0])):
        if meaning_of(table.header[place]).role not in ("label", "ignore", "strategy", "case"):
            continue
        pairs = [(plain(row[place]), plain(row[devices[0]])) for _, row in table.rows if len(row) > devices[0]]
        counts = [count_or_none(label) for label, _ in pairs]
        alike = len(pairs) == len(table.rows) and all(
            count and not (count.words or count.comment or count.model) and str(count.gpus) == own
            for count, (_, own) in zip(counts, pairs, strict=True)
        )
        kinds = [count.hardware if count else "" for count in counts]
        named = [kind for kind in kinds if kind]
        if not alike or not named or not all(re.search(HARDWARE, kind, re.IGNORECASE) for kind in named):
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


def with_pieces(table: RawTable) -> RawTable:
    """Return a table with columns of hardware and devices instead of labels that name both: `GPU-1p`, `NPU-8p`."""
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header):
        return table
    for place in range(min(_FIRST, len(table.header))):
        found = [_PIECES.fullmatch(plain(row[place])) if place < len(row) else None for _, row in table.rows]
        parts = [(one["kind"], one["count"]) for one in found if one]
        if len(parts) < len(table.rows) or len({count for _, count in parts}) < 2:
            continue
        rows = tuple(
            (line, (*row[:place], *own, *row[place + 1 :]))
            for (line, row), own in zip(table.rows, parts, strict=True)
        )
        header = (*table.header[:place], _HARDWARE, "devices", *table.header[place + 1 :])
        return replace(table, header=header, rows=rows)
    return table
