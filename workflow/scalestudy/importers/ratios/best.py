"""The best of several ratios in a row: `Best speedup` beside one column per number of devices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from scalestudy.importers.headers.meaning import normal
from scalestudy.importers.numbers.printed import read_cell


def is_of_best(header: str) -> bool:
    """Return whether a header is of the best of several ratios: Best Speedup, max speedup."""
    return bool(re.search(r"\b(?:best|max(?:imum)?|peak|highest)\b", normal(header)))


def size_of_best(cells: Sequence[str], sizes: Mapping[int, str], *, of_times: bool) -> str:
    """Return the size of the shortest time or of the largest rate of a row; '' if it has none.

    sizes: place of a cell -> its size.
    """
    known: list[tuple[float, str]] = []
    for place, size in sizes.items():
        with suppress(ValueError, IndexError):
            if (value := read_cell(cells[place]).printed.value) > 0:
                known.append((value if of_times else -value, size))
    return min(known, key=lambda one: one[0])[1] if known else ""
