"""Rows of devices with a row of their speedup or efficiency below them: `1 GPU`, `4 GPUs`, `Speedup`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.cells import is_blank, plain
from scalestudy.importers.counts import Count, read_count
from scalestudy.importers.counts_in_words import count_in_words
from scalestudy.importers.headers import meaning_of
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.raw import RawTable

_FEW = 2
_WITH_UNIT = re.compile(r"(?P<label>.*\S) ?[(\[](?P<unit>[^()\[\]]{2,20})[)\]]")


def with_ratio_rows(table: RawTable) -> RawTable:
    """Return a table whose last row has ratios of the row on the most devices with a column of them instead.

    The labels of all other rows are in the first column, and each names another number of devices.
    """
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    if len(labels) <= _FEW or meaning_of(labels[-1]).role not in STATED:
        return table
    counts = [_count(label) for label in labels[:-1]]
    sizes = [count.gpus for count in counts if count]
    if len(sizes) < len(counts) or len(set(sizes)) < len(sizes) or min(sizes, default=0) < 1:
        return table
    ratios = table.rows[-1][1]
    places = [
        place for place, cell in enumerate(ratios) if place and place < len(table.header) and not is_blank(cell)
    ]
    places = [at for at in places if meaning_of(table.header[at]).role not in ("gpus", "nodes", *BATCHES, *STATED)]
    most = sizes.index(max(sizes))
    header = list(table.header)
    rows = [[*cells] for _, cells in table.rows[:-1]]
    for place in reversed(places):  # from the right, since each adds a column
        header.insert(place + 1, labels[-1])
        for at, row in enumerate(rows):
            row += [""] * (place + 1 - len(row))
            row.insert(place + 1, ratios[place] if at == most else "")
    lines = [line for line, _ in table.rows[:-1]]
    return replace(table, header=tuple(header), rows=tuple(zip(lines, map(tuple, rows), strict=True)))


def with_unit_of_labels(table: RawTable) -> RawTable:
    """Return a table with the common unit of its labels, `1 GPU (img/s)` and `8 GPUs (img/s)`, in its caption."""
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    parts = [
        found if (found := _WITH_UNIT.fullmatch(label)) and _count(found["label"]) else None for label in labels
    ]
    units = {found["unit"] for found in parts if found}
    if sum(map(bool, parts)) < _FEW or len(units) != 1 or meaning_of(unit := units.pop()).role not in MEASURED:
        return table
    rows = tuple(
        (line, (found["label"], *cells[1:]) if found else cells)
        for (line, cells), found in zip(table.rows, parts, strict=True)
    )
    return replace(table, rows=rows, caption=f"{table.caption} ({unit})".strip())


def _count(label: str) -> Count | None:
    for read in (read_count, count_in_words):
        try:
            return read(label)
        except ValueError:
            continue
    return None
