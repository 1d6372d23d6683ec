"""Joins a second line of headers that has the numbers of devices, or that stands below the name of a group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_FEW = 2
_WHOLE = re.compile(r"\d[\d,]{0,11}")
LIKE_A_NUMBER = re.compile(r"[-+~\u2248\u00b1(]?\s*[.]?\d")


def with_second_line(table: RawTable) -> RawTable:
    """Return a table whose header is joined with the line below it, or that line below a title of all columns."""
    table = _with_devices_below_sizes(_with_counts_of_groups(_with_second(table)))
    return _with_counts(_without_title(_with_noun_above(table)))


def noun_of(header: str) -> str:
    """Return what a header of devices counts, such as `threads`; `devices` if it has no word for it."""
    nouns = re.findall(rf"\b(?:{DEVICE}|{NODE})\b", normal(header))
    return nouns[-1] if nouns else "devices"


def _with_second(table: RawTable) -> RawTable:
    """Joins a second line of headers below one whose other cells are over both lines: they are repeated in it."""
    names = [plain(name) for name in table.header]
    second = [plain(cell) for cell in table.rows[0][1]] if table.rows else []
    same = [bool(name) and name == cell for name, cell in zip(names, second, strict=False)]
    groups = {name for name, both in zip(names, same, strict=False) if not both and names.count(name) > 1}
    if len(second) != len(names) or not any(same) or all(same) or not groups or len(table.rows) < 2:
        return table
    header = [
        name if both else f"{name} {cell}".strip() for name, cell, both in zip(names, second, same, strict=True)
    ]
    return replace(table, header=tuple(header), rows=table.rows[1:])


def _with_counts_of_groups(table: RawTable) -> RawTable:
    """Joins names over several columns each with a line of devices that has the same numbers below each name."""
    if len(table.rows) < 2 or len(table.header) < 2 * _FEW + 1 or len(table.rows[0][1]) != len(table.header):
        return table
    first, *below = (plain(cell) for cell in table.rows[0][1])
    groups: list[tuple[str, list[int]]] = []
    for name, cell in zip(map(plain, table.header[1:]), below, strict=True):
        if not re.fullmatch(r"[1-9]\d{0,5}", cell):
            return table
        if name and (not groups or name != groups[-1][0]):
            groups.append((name, []))
        if not groups:
            return table
        groups[-1][1].append(int(cell))
    counts = groups[0][1]
    alike = all(own == counts for _, own in groups) and counts == sorted(set(counts)) and len(counts) >= _FEW
    if meaning_of(first).role not in ("gpus", "nodes") or len(groups) < 2 or not alike:
        return table
    header = [f"{name} {count} {noun_of(first)}" for name, own in groups for count in own]
    return replace(table, header=(table.header[0], *header), rows=table.rows[1:])


def _with_devices_below_sizes(table: RawTable) -> RawTable:
    """The table with its line of devices as the header, if that is below one of sizes: Vertices | 50 | 100."""
    first, *sizes = map(plain, table.header)
    if meaning_of(first).role in ("gpus", "nodes") or len(sizes) < 2 or not all(map(_WHOLE.fullmatch, sizes)):
        return table
    for at, (line, cells) in enumerate(table.rows[:_FEW]):
        if len(cells) == len(table.header) and _are_devices(cells):
            rows = ((table.line, table.header), *table.rows[:at], *table.rows[at + 1 :])
            return replace(table, line=line, header=cells, rows=rows)
    return table


def _with_noun_above(table: RawTable) -> RawTable:
    """Joins `Nodes` in the middle of the first line with the numbers below it, as `1 nodes`, `2 nodes`.

    If the first column has only one name, such as that of a model, that name is read as the heading of the table.
    """
    nouns = [plain(name) for name in table.header if plain(name)]
    if len(nouns) != 1 or meaning_of(nouns[0]).role not in ("gpus", "nodes") or len(table.rows) < 2:
        return table
    below = [plain(cell) for cell in table.rows[0][1]]
    places = [place for place, cell in enumerate(below) if cell]
    counts = [int(below[place]) for place in places if re.fullmatch(r"[1-9]\d{0,5}", below[place])]
    if len(counts) != len(places) or len(counts) < 2 or counts != sorted(set(counts)) or 0 in places:
        return table
    kind = noun_of(nouns[0])
    header = [f"{below[place]} {kind}" if place in places else "" for place in range(len(table.header))]
    rows = table.rows[1:]
    names = {plain(cells[0]) for _, cells in rows if cells and plain(cells[0])}
    if min(places) > 1 and len(names) == 1:
        rows = tuple((line, cells[1:]) for line, cells in rows)
        return replace(table, header=tuple(header[1:]), rows=rows, headings=(*table.headings, names.pop()))
    return replace(table, header=tuple(header), rows=rows)


def _without_title(table: RawTable) -> RawTable:
    """The table without a title over all columns above its headers."""
    names = {plain(name) for name in table.header if plain(name)}
    if len(names) != 1 or len(table.header) < 2 or len(table.rows) < 2:
        return table
    (line, header), *rows = table.rows
    if len(header) != len(table.header) or ("" in map(plain, table.header[1:-1]) and not _are_devices(header)):
        return table
    if any(LIKE_A_NUMBER.match(plain(cell)) for cell in header) and not _are_devices(header):
        return table
    return replace(table, line=line, header=header, rows=tuple(rows), headings=(*table.headings, *names))


def _are_devices(header: Sequence[str]) -> bool:
    """Whether a line is one of devices across: GPUs | 1 | 2 | 4."""
    first, *others = map(plain, header)
    counts = [int(cell) for cell in others if re.fullmatch(r"[1-9]\d{0,5}", cell)]
    of_devices = meaning_of(first).role in ("gpus", "nodes")
    return of_devices and len(counts) == len(others) > 1 and counts == sorted(set(counts))


def _with_counts(table: RawTable) -> RawTable:
    """Joins `Number of GPUs` over several columns with the numbers below it: 1 GPU, 2 GPUs."""
    first = [plain(name) for name in table.header]
    group = [place for place, name in enumerate(first) if name and first.count(name) > 1]
    if not group or not table.rows or len({first[place] for place in group}) > 1:
        return table
    second = table.rows[0][1]
    below = [plain(second[place]) if place < len(second) else "" for place in group]
    counts = all(re.fullmatch(r"\d{1,6}", cell) for cell in below) and len(set(below)) == len(below)
    if not counts or meaning_of(first[group[0]]).role not in ("gpus", "nodes"):
        return table
    kind = noun_of(first[group[0]])
    names = [
        f"{below[group.index(place)]} {kind}" if place in group else plain(second[place]) or name
        for place, name in enumerate(first)
        if place < len(second)
    ]
    return replace(table, header=tuple(names), rows=table.rows[1:])
