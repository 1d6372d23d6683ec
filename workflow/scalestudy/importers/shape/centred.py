"""Labels in the middle of their rows, as in tables from a PDF, and cells printed once for several rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from scalestudy.importers.headers.meaning import TEXTS, Meaning, meaning_of
from scalestudy.importers.numbers.printed import is_blank, is_ditto, plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

_FEW = 2
_DASH = re.compile(r"[-\u2013\u2014]")
NOT_NAMED = "not named"
"""Label of a block without one."""


def with_dittos_filled_down(table: RawTable) -> RawTable:
    """Return a table with the numbers of the cells above in place of ditto marks."""
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        above = rows[-1][1] if rows else ()
        own = [
            up if is_ditto(cell) and re.match(r"\W*\d", plain(up)) else cell
            for cell, up in zip(cells, above, strict=False)
        ]
        rows.append((line, (*own, *cells[len(own) :])))
    return replace(table, rows=tuple(rows))


def with_dashes_filled_down(table: RawTable) -> RawTable:
    """Return a table whose dashes mean the cell above, as in most rows of its first column."""
    roles = [meaning_of(name).role for name in table.header]
    left = next((at for at, role in enumerate(roles) if role in (*MEASURED, *STATED)), 0)
    columns = [[plain(row[at]) for _, row in table.rows if at < len(row)] for at in range(left)]
    dashed = [column for column in columns if any(map(_DASH.fullmatch, column))]
    first = sum(bool(_DASH.fullmatch(cell)) for cell in columns[0]) if columns else 0
    if len(dashed) < _FEW or 2 * first < len(table.rows) or _DASH.fullmatch(columns[0][0]):
        return table
    above = [""] * left
    rows = []
    for line, cells in table.rows:
        own = [above[at] if _DASH.fullmatch(plain(cell)) else cell for at, cell in enumerate(cells[:left])]
        above = [*own, *above[len(own) :]]
        rows.append((line, (*own, *cells[left:])))
    return replace(table, rows=tuple(rows))


def with_groups_filled_down(table: RawTable) -> RawTable:
    """Return a table without the rows that have a number in their first cell only, which is of the rows below.

    The number gets the header in front of it, since it is a label: `Size 512`. All other rows begin with an empty
    cell.
    """
    if len(table.header) < _FEW or not plain(table.header[0]):
        return table
    alone = [not any(map(str.strip, cells[1:])) and bool(cells[0].strip()) for _, cells in table.rows]
    others = [cells[0] for (_, cells), own in zip(table.rows, alone, strict=True) if not own]
    if not alone or not alone[0] or len(others) <= sum(alone) or any(map(str.strip, others)):
        return table
    rows, name = [], ""
    for (line, cells), own in zip(table.rows, alone, strict=True):
        name = f"{plain(table.header[0])} {plain(cells[0])}" if own else name
        if not own:
            rows.append((line, (name, *cells[1:])))
    return replace(table, rows=tuple(rows))


def with_devices_filled_down(table: RawTable) -> RawTable:
    """Return a table in which each row has its devices, if each number is printed once for the same labels."""
    place = next((at for at, name in enumerate(table.header) if meaning_of(name).role in ("gpus", "nodes")), None)
    rows = [list(cells) for _, cells in table.rows]
    if place is None or not rows or any(len(row) != len(table.header) for row in rows):
        return table
    starts = [at for at, row in enumerate(rows) if not is_blank(row[place])]
    if len(starts) < _FEW or starts[0] != 0 or len(starts) == len(rows):
        return table
    blocks = [rows[first:end] for first, end in zip(starts, [*starts[1:], len(rows)], strict=True)]
    labels = [at for at in range(len(table.header)) if at != place]
    alike = any(len({tuple(plain(row[at]) for row in block) for block in blocks}) == 1 for at in labels)
    if not alike or len({len(block) for block in blocks}) > 1:
        return table
    for block in blocks:
        for row in block:
            row[place] = block[0][place]
    lines = [line for line, _ in table.rows]
    return replace(table, rows=tuple(zip(lines, map(tuple, rows), strict=True)))


def with_centred_labels(table: RawTable) -> RawTable:
    """Return a table in which each row has its label, if a column of labels begins with an empty cell.

    The rows of a label are one or more blocks in which the number of devices rises, as many for each label.
    """
    devices = next(
        (at for at, name in enumerate(table.header) if meaning_of(name).role in ("gpus", "nodes")), None
    )
    rows = [list(cells) for _, cells in table.rows]
    if not devices or not rows or any(len(row) != len(table.header) for row in rows):
        return table
    sizes = [plain(row[devices]) for row in rows]
    if not all(re.fullmatch(r"[1-9]\d{0,6}", size) for size in sizes):
        return table
    starts = [0, *(at for at, (one, after) in enumerate(pairwise(map(int, sizes)), start=1) if after <= one)]
    for place in range(devices):
        labels = [(at, row[place]) for at, row in enumerate(rows) if not is_blank(row[place])]
        if not labels or labels[0][0] == 0 or len(labels) > len(starts):
            continue
        even = len(starts) % len(labels) == 0
        firsts = starts[:: len(starts) // len(labels)] if even else starts
        if any(at in firsts for at, _ in labels):
            continue  # labels are in the first of their rows, and the first rows do not have one
        for first, end in zip(firsts, [*firsts[1:], len(rows)], strict=True):
            own = [label for at, label in labels if first <= at < end]
            for row in rows[first:end] if len(own) < 2 else ():
                row[place] = own[0] if own else NOT_NAMED
    lines = [line for line, _ in table.rows]
    return replace(table, rows=tuple(zip(lines, map(tuple, rows), strict=True)))


def begins_group(meanings: Sequence[Meaning], cells: Sequence[str], place: int, above: Mapping[int, str]) -> bool:
    """Return whether a label left of a dash is another than in the row above, so that the dash is no ditto.

    above: the labels of that row by their places.
    """
    labels = [at for at, one in enumerate(meanings[:place]) if one.role in TEXTS and at < len(cells)]
    texts = {at: plain(cells[at]) for at in labels if not is_blank(cells[at])}
    return any(above.get(at, text) != text for at, text in texts.items())
