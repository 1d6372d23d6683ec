"""Whether the size of the work grows with the devices, by a column of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from scalestudy.importers.columns.labels import is_size_of_work
from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.numbers.printed import read_cell
from scalestudy.importers.published import PublishedRow
from scalestudy.importers.raw import RawTable

_FEW = 3


def growing_size(raw: RawTable, meanings: Sequence[Meaning], rows: Sequence[PublishedRow]) -> str:
    """Return the header of a size, such as `N` or `grid`, that is larger on each larger number of devices, or ''.

    rows: what was read of the table.
    """
    devices = {row.line: row.gpus for row in rows}
    for place, one in enumerate(meanings):
        if one.role not in ("label", "ignore") or not is_size_of_work(normal(one.header)):
            continue
        sizes = []
        for line, cells in raw.rows:
            with suppress(ValueError, IndexError):
                sizes.append((devices.get(line, 0), read_cell(cells[place]).printed.value))
        sizes = sorted(pair for pair in sizes if pair[0])
        known = len(sizes) == len(rows) >= _FEW
        if known and all(few[0] < many[0] and few[1] < many[1] for few, many in pairwise(sizes)):
            return one.header
    return ""
