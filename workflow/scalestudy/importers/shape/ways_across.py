"""Strategies in headers of devices, with one run on one device for all: `1 GPU | 4 GPUs DP | 4 GPUs DDP`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.raw import RawTable
from scalestudy.importers.shape.devices_across import size_of

_FEW = 2
_WAY = re.compile(
    r"(?P<way>ddp|dp|f?sdp2?|hsdp|tp|pp|horovod|deepspeed|zero[- ]?[123]?|mpi|openmp|omp)\b[ ,:-]*", re.IGNORECASE
)
"""Ways to use several devices, in front of a quantity."""
_NONE = "single"
"""The strategy of the run on one device."""


def with_ways(table: RawTable, across: dict[int, tuple[str, str]]) -> tuple[RawTable, dict[int, tuple[str, str]]]:
    """Return the table with the strategies of its columns of devices as labels, and the columns without them.

    across: place -> (devices, other words). It stays as it is unless one column is on one device without a
    strategy, and several strategies are on several devices.
    """
    ways = {place: way["way"] if (way := _WAY.match(words)) else _NONE for place, (_, words) in across.items()}
    rests = {_WAY.sub("", words).strip() for _, words in across.values()}
    alone = [place for place, way in ways.items() if way == _NONE]
    names = list(dict.fromkeys(ways.values()))
    if len(rests) != 1 or len(names) <= _FEW or len(alone) != 1 or size_of(across[alone[0]][0]) != 1:
        return table, across
    rest, first = rests.pop(), min(across)
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        for name in names:
            own = [cell if ways.get(place, name) == name else "" for place, cell in enumerate(cells)]
            label = name if name == _NONE else name.upper()
            rows.append((line, (*own[:first], label, *own[first:])))
    header = (*table.header[:first], "strategy", *table.header[first:])
    moved = {place + 1: (devices, rest) for place, (devices, _) in across.items()}
    return replace(table, header=header, rows=tuple(rows)), moved
