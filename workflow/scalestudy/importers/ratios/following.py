"""Whether printed ratios follow from the measurement beside them, relative to the row on the fewest devices."""

from __future__ import annotations

import re

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.raw import RawTable


def following(
    raw: RawTable, places: tuple[int, int, int], *, of_times: bool, close: float, power: int = 0
) -> list[bool]:
    """Return for each row with more devices than the fewest whether its ratio follows.

    places: devices, measurement, ratio. of_times: whether the measurement is a time. close: relative difference.
    power: 0 for speedups, 1 for efficiencies. Ratios may be in per cent: that on the fewest devices is the unit.
    """
    rows = []
    for _, row in raw.rows:
        try:
            leading = re.match(r"\d+\.?\d*", plain(row[places[2]]))  # also of `1.000 baseline`
            measured = read_cell(row[places[1]]).printed.value
            rows.append((read_count(row[places[0]]).gpus, measured, float(leading[0] if leading else 0)))
        except (ValueError, IndexError):
            continue
    rows = sorted(row for row in rows if min(row) > 0)
    if not rows:
        return []
    fewest, first, unit = rows[0]
    result = []
    for gpus, measured, ratio in (row for row in rows if row[0] > fewest):
        speedup = first / measured if of_times else measured / first
        result.append(abs(speedup * (fewest / gpus) ** power * unit / ratio - 1) < close)
    return result
