"""Columns called efficiency whose numbers are speedups in per cent: 191 % on two devices."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.cells import read_cell
from scalestudy.importers.counts import read_count
from scalestudy.importers.headers import Meaning, is_utilization, normal, with_role
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.quantities import most_are
from scalestudy.importers.raw import RawTable

_CLOSE = 0.03
"""Relative difference up to which a ratio follows from the measurement beside it. Wider than rounding."""
_FEWEST = 3
_MOST = 0.75
"""Rows that have to show it, and their share of all."""


def by_their_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads efficiencies that follow as speedups as these, and a share beside them as the efficiency."""
    devices = [place for place, one in enumerate(meanings) if one.role == "gpus"]
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    stated = [place for place, one in enumerate(meanings) if one.role == "printed_efficiency"]
    if len(devices) != 1 or len(measured) != 1 or len(stated) != 1 or normal(meanings[stated[0]].header) in said:
        return meanings
    of_times = meanings[measured[0]].role in TIMES
    places = devices[0], measured[0]
    if not most_are("efficiency", raw.cells(stated[0])) or not _follows(
        raw, (*places, stated[0]), 0, of_times=of_times
    ):
        return meanings
    found = with_role(meanings, stated[0], "printed_speedup")
    for place, one in enumerate(found):
        share = (
            one.role == "ignore" and normal(one.header) not in said and most_are("efficiency", raw.cells(place))
        )
        if share and not is_utilization(one.header) and _follows(raw, (*places, place), 1, of_times=of_times):
            return with_role(found, place, "printed_efficiency")
    return found


def _follows(raw: RawTable, places: Sequence[int], power: int, *, of_times: bool) -> bool:
    """Whether percentages are speedups (power 0) or efficiencies (1). places: devices, measurement, percentage."""
    rows = []
    for _, row in raw.rows:
        try:
            measured, stated = (read_cell(row[place]).printed.value for place in places[1:])
            rows.append((read_count(row[places[0]]).gpus, measured, stated / 100))
        except (ValueError, IndexError):
            continue
    rows = sorted(row for row in rows if min(row) > 0)
    if not rows:
        return False
    fewest, first, _ = rows[0]
    close = [
        abs((first / measured if of_times else measured / first) * (fewest / gpus) ** power / stated - 1) < _CLOSE
        for gpus, measured, stated in rows
        if gpus > fewest
    ]
    return len(close) >= _FEWEST and sum(close) >= _MOST * len(close)
