"""The best of several ratios in a row: `Best speedup` beside one column per number of devices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from scalestudy.importers.headers.meaning import normal
from scalestudy.importers.numbers.printed import read_cell
from scalestudy.importers.raw import RawTable

_ENOUGH = 3
_BEST = re.compile(r"\b(?:best|max(?:imum)?|peak|highest)\b")


def columns_of_best(
    table: RawTable, ratios: Sequence[int], sizes: Mapping[int, str], *, of_times: bool
) -> set[int]:
    """Return the columns of ratios that are of the best number of each row, by their header or by their numbers.

    sizes: place of the numbers -> their devices.
    """
    rows = [cells for _, cells in table.rows]
    return {
        place
        for place in ratios
        if _BEST.search(normal(table.header[place]))  # Best Speedup, max speedup
        or (len(sizes) > 1 and _follow_from_best(rows, place, sizes, of_times=of_times))
    }


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


def _follow_from_best(
    rows: Iterable[Sequence[str]], ratio: int, sizes: Mapping[int, str], *, of_times: bool
) -> bool:
    """Return whether the speedups of a column are those of the best number of each row, and not of the last one.

    They are relative to the first number of the row. ratio: place of the speedups. sizes: as in size_of_best.
    """
    of_the_last, of_the_best = [], []
    for cells in rows:
        with suppress(ValueError, IndexError):
            stated = read_cell(cells[ratio]).printed
            first, *_, last = known = [read_cell(cells[place]).printed.value for place in sorted(sizes)]
            gains = [first / value if of_times else value / first for value in (last, min(known), max(known))]
            follows = [abs(stated.value - gain) <= stated.last for gain in gains]
            of_the_best.append(follows[1 if of_times else 2])
            of_the_last.append(follows[0])
    whole = all(of_the_best) and not all(of_the_last)
    most = sum(of_the_best) >= max(_ENOUGH, len(of_the_best) - 1, sum(of_the_last) + 2)  # but for one wrong ratio
    return len(of_the_best) > 1 and (whole or most)
