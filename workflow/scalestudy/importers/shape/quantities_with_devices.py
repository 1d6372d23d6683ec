"""Rows that name devices and a quantity, `Single-GPU throughput` and `2-GPU throughput`, below `FP32 | FP16`."""

from __future__ import annotations

from dataclasses import replace

from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED
from scalestudy.importers.raw import RawTable

_FEW = 2


def with_devices_of_rows(table: RawTable) -> RawTable:
    """Return such a table with its rows as columns, so that its headers are devices across."""
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    if len(set(labels)) < len(labels) or any(count_of_header(name) for name in table.header):
        return table
    counts = [count_of_header(label) for label in labels]
    roles = {meaning_of(rest).role for _, rest in filter(None, counts)}
    sizes = {count.gpus for count, _ in filter(None, counts)}
    if len(sizes) < _FEW or len(roles) != 1 or not roles <= {*MEASURED}:
        return table
    columns = [
        (name, *(cells[place] if place < len(cells) else "" for _, cells in table.rows))
        for place, name in enumerate(table.header)
        if place
    ]
    rows = tuple((table.line, column) for column in columns)
    return replace(table, header=("setup", *labels), rows=rows)
