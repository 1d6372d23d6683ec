"""Reads lists of a program as tables: gpus = [1, 2, 4] above throughput = [410, 779, 1435]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scalestudy.importers.headers import meaning_of
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

LONGEST = 2000
"""Characters of a line with a list."""
_GAP = 5
"""Lines between two lists that belong together, at most."""
_LIST = re.compile(
    r"[\s>*#-]*[\"']?(?P<name>[A-Za-z]\w{0,40})[\"']?\s*[=:]\s*(?:np\.array|numpy\.array|torch\.tensor|list|c|tuple)?\s*"
    r"[\[({]+(?P<cells>[\d.,\seE+-]{3,})[\])}]+\s*[,;]?\s*(?:#.*|//.*)?"
)
_List = tuple[int, str, list[str]]
"""Its line, its name and its numbers."""


def array_tables(lines: Sequence[str]) -> Iterator[RawTable]:
    """Yield tables of lists of equal length near each other, one of devices and one of a measurement."""
    group: list[_List] = []
    for number, line in enumerate([*lines, *[""] * (_GAP + 1)], start=1):
        found = _LIST.fullmatch(line) if len(line) <= LONGEST else None
        cells = [cell.strip() for cell in found["cells"].split(",") if cell.strip()] if found else []
        if group and (number - group[-1][0] > _GAP or (cells and len(cells) != len(group[0][2]))):
            yield from _of(group)
            group = []
        if found and len(cells) > 1:
            group.append((number, found["name"], cells))


def _of(group: Sequence[_List]) -> Iterator[RawTable]:
    roles = {meaning_of(name).role for _, name, _ in group}
    if {"gpus", "nodes"} & roles and roles & {*MEASURED, *STATED}:
        rows = zip(*(cells for *_, cells in group), strict=True)
        line = group[-1][0]
        yield RawTable(group[0][0], tuple(name for _, name, _ in group), tuple((line, row) for row in rows))
