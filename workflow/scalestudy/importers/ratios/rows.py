"""Rows of devices with a row of their speedup or efficiency below them: `1 GPU`, `4 GPUs`, `Speedup`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.raw import RawTable

_COUNTED = re.compile(rf"\d{{1,6}} ?x? ?-?(?:{DEVICE}|{NODE})", re.IGNORECASE)
_FEW = 2
_WITH_UNIT = re.compile(r"(?P<label>.*\S) ?[(\[](?P<unit>[^()\[\]]{2,20})[)\]]")
_RATIO = re.compile(
    r"(?:parallel |scaling |strong |weak )*(?:speed-? ?up|(?:scaling )?efficiency)s?(?: ?\([^()]*\))?\W*",
    re.IGNORECASE,
)
"""Labels of ratios to the fewest devices. Others, such as `Speedup over CPU`, are relative to something else."""


def with_ratio_rows(table: RawTable) -> RawTable:
    """Return a table whose last rows have ratios of the row on the most devices with columns of them instead.

    The labels of all other rows are in the first column, and each names another number of devices.
    """
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    below = len(labels)
    while below and _RATIO.fullmatch(labels[below - 1]):
        below -= 1
    counts = [count_or_none(label) for label in labels[:below]]
    sizes = [count.gpus for count in counts if count]
    if (
        below in (0, len(labels))
        or below < _FEW
        or len(sizes) < below
        or len(set(sizes)) < below
        or min(sizes) < 1
    ):
        return table
    most = sizes.index(max(sizes))
    header = list(table.header)
    rows = [[*cells, *[""] * (len(header) - len(cells))] for _, cells in table.rows[:below]]
    ratios = list(zip(labels[below:], (cells for _, cells in table.rows[below:]), strict=True))
    for place in range(len(table.header) - 1, 0, -1):  # from the right, since each adds a column
        of_other = meaning_of(table.header[place]).role in ("gpus", "nodes", *BATCHES, *STATED)
        for label, cells in reversed(ratios):
            if not of_other and place < len(cells) and not is_blank(cells[place]):
                header.insert(place + 1, label)
                for at, row in enumerate(rows):
                    row.insert(place + 1, cells[place] if at == most else "")
    lines = [line for line, _ in table.rows[:below]]
    return replace(table, header=tuple(header), rows=tuple(zip(lines, map(tuple, rows), strict=True)))


def with_quantity_of_the_first(table: RawTable) -> RawTable:
    """Return a table whose first header is of its numbers, `Speed (img/s)` above `1 card`, with it in the caption.

    So it is if no other header is of a measurement.
    """
    roles = [meaning_of(name).role for name in table.header]
    cells = list(map(plain, table.cells(0)))
    counted = len(cells) == len(table.rows) > 1 and all(map(_COUNTED.fullmatch, cells))
    measured = any(role in (*MEASURED, *STATED) for role in roles[1:])
    if not counted or measured or not roles or roles[0] not in MEASURED:
        return table
    words = plain(table.header[0])
    return replace(table, header=("devices", *table.header[1:]), caption=f"{words} {table.caption}".strip())


def with_unit_of_labels(table: RawTable) -> RawTable:
    """Return a table with the common unit of its labels, `1 GPU (img/s)` and `8 GPUs (img/s)`, in its caption."""
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    parts = [
        found if (found := _WITH_UNIT.fullmatch(label)) and count_or_none(found["label"]) else None
        for label in labels
    ]
    units = {found["unit"] for found in parts if found}
    if sum(map(bool, parts)) < _FEW or len(units) != 1 or meaning_of(unit := units.pop()).role not in MEASURED:
        return table
    rows = tuple(
        (line, (found["label"], *cells[1:]) if found else cells)
        for (line, cells), found in zip(table.rows, parts, strict=True)
    )
    return replace(table, rows=rows, caption=f"{table.caption} ({unit})".strip())
