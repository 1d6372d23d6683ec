"""Strategies in headers of devices, with one run on one device for all: `1 GPU | 4 GPUs DP | 4 GPUs DDP`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.raw import RawTable
from scalestudy.importers.shape.devices_across import ROUND
from scalestudy.importers.shape.ratios_across import size_of

_FEW = 2
_WAY = re.compile(r"(?P<way>.*?)[ _,:-]*(?P<unit>(?:time )?[(\[][^()\[\]]*[)\]]|)")
"""Other words of a header: a strategy or a program, and the unit of its numbers."""
_ABBREVIATED = ("dp", "ddp", "fsdp", "hsdp", "tp", "pp", "mpi")
_NONE = "single"
"""The strategy of the run on one device."""


def with_ways(table: RawTable, across: dict[int, tuple[str, str]]) -> tuple[RawTable, dict[int, tuple[str, str]]]:
    """Return the table with the strategies of its columns of devices as labels, and the columns without them.

    across: place -> (devices, other words). It stays as it is unless one column is on one device without a
    strategy, and several strategies are on several devices.
    """
    parts = {place: found for place, (_, words) in across.items() if (found := _WAY.fullmatch(words))}
    ways = {place: found["way"] or _NONE for place, found in parts.items()}
    rests = {found["unit"].translate(ROUND) for found in parts.values()}
    alone = [place for place, way in ways.items() if way == _NONE]
    names = list(dict.fromkeys(ways.values()))
    quantities = any(meaning_of(name).role in (*MEASURED, *STATED, *BATCHES) for name in names)
    if len(parts) < len(across) or quantities or len(rests) != 1 or len(names) <= _FEW or len(alone) != 1:
        return table, across
    if size_of(across[alone[0]][0]) != 1:
        return table, across
    rest, first = rests.pop(), min(across)
    kind, ratios = _ratios_of_ways(table, names)
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        for name in names:
            own = [cell if (ways | ratios).get(place, name) == name else "" for place, cell in enumerate(cells)]
            if ratios:
                ratio = "".join(own[place] for place in ratios if place < len(own))
                own = [*(cell if place not in ratios else "" for place, cell in enumerate(own)), ratio]
            label = name.upper() if name in _ABBREVIATED else name
            rows.append((line, (*own[:first], label, *own[first:])))
    names_left = ["" if place in ratios else name for place, name in enumerate(table.header)]
    header = (*names_left[:first], "strategy", *names_left[first:], *([kind] if ratios else []))
    moved = {place + 1: (devices, rest) for place, (devices, _) in across.items()}
    return replace(table, header=header, rows=tuple(rows)), moved


def _ratios_of_ways(table: RawTable, names: list[str]) -> tuple[str, dict[int, str]]:
    """What columns of ratios are, OpenMP Speedup | MPI Speedup, and place -> the strategy that each names."""
    found: dict[int, str] = {}
    kinds = set()
    for place, header in enumerate(table.header):
        words = normal(header).split()
        own = [name for name in names if name in words]
        if len(own) == 1 and meaning_of(header).role in STATED:
            found[place] = own[0]
            kinds.add(" ".join(word for word in words if word != own[0]))
    return (kinds.pop(), found) if len(kinds) == 1 and len({*found.values()}) == len(found) else ("", {})
