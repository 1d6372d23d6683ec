"""Joins tables of one section that have one number of devices each: the same models on 1 GPU, and on 4 GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED
from scalestudy.importers.raw import RawTable

_FEWEST = 2
"""Rows of a table that another one continues."""


@dataclass(frozen=True)
class _Part:
    """A table with one number of devices."""

    table: RawTable
    gpus: int
    names: tuple[str, ...]
    """What its rows are of."""

    @property
    def measured(self) -> set[str]:
        """The headers of its measurements."""
        return {normal(name) for name in self.table.header if meaning_of(name).role in MEASURED}

    def continues(self, other: _Part) -> bool:
        """Whether this table has the rows of another one on more devices."""
        near = self.table.headings[:-1] == other.table.headings[:-1]
        return (
            near and self.gpus > other.gpus and self.names == other.names and bool(self.measured & other.measured)
        )


def continued(tables: Sequence[RawTable]) -> list[RawTable]:
    """Return tables in which one with a single number of devices is joined with those that continue it.

    Several that continue it on the same number of devices, such as those of two settings, are joined with it one
    by one.
    """
    result: list[RawTable] = []
    parts = {id(table): part for table in tables if (part := _part(table))}
    used: set[int] = set()
    for at, table in enumerate(tables):
        if id(table) in used:
            continue
        first = parts.get(id(table))
        behind = [parts[id(other)] for other in tables[at + 1 :] if id(other) in parts] if first else []
        further = [part for part in behind if first and part.continues(first)]
        used |= {id(part.table) for part in further}
        apart = len({part.gpus for part in further}) < len(further)
        groups = [[part] for part in further] if apart else [further] if further else []
        result += [_joined([first, *group]) for group in groups if first] or [table]
    return result


def note_on_joined(table: RawTable) -> list[str]:
    """Return that a table also has the rows of others, if it has."""
    others = [line for line, _ in table.rows if line < table.line]
    if not others:
        return []
    return [
        f"lines {others[0]} to {others[-1]} are of tables with other numbers of devices, which this one continues"
    ]


def _part(table: RawTable) -> _Part | None:
    """The number of devices of a table with one, and the names in its first column of words."""
    devices = [place for place, name in enumerate(table.header) if meaning_of(name).role in ("gpus", "nodes")]
    if len(devices) != 1 or len(table.rows) < _FEWEST:
        return None
    cells = {plain(cell) for cell in table.cells(devices[0])}
    words = [place for place in range(len(table.header)) if not share(table.cells(place), read_cell)]
    if len(cells) != 1 or not share(list(cells), read_count) or not words:
        return None
    names = tuple(plain(row[words[0]]) for _, row in table.rows if words[0] < len(row))
    if len(set(names)) != len(table.rows) or not all(names):
        return None
    return _Part(table, read_count(cells.pop()).gpus, names)


def _joined(parts: Sequence[_Part]) -> RawTable:
    """One table that has the rows of all, below the headers of the last."""
    last = parts[-1].table
    rows = []
    for part in parts:
        place = {normal(name): at for at, name in enumerate(part.table.header)}
        for line, cells in part.table.rows:
            kept = [place.get(normal(name), len(cells)) for name in last.header]
            rows.append((line, tuple(cells[at] if at < len(cells) else "" for at in kept)))
    return replace(last, rows=tuple(rows))
