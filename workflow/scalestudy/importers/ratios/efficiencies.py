"""Columns called efficiency whose numbers are speedups in per cent: 191 % on two devices."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, is_utilization, normal, with_role
from scalestudy.importers.numbers.printed import read_cell, share
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.quantities import most_are
from scalestudy.importers.ratios.following import following
from scalestudy.importers.raw import RawTable

_CLOSE = 0.03
"""Relative difference up to which a ratio follows from the measurement beside it. Wider than rounding."""
_ABOVE = 110.0
"""Per cent above which a number is rather a speedup than an efficiency."""
_FAR_ABOVE = 150.0
"""Per cent above which it is one even if fewer rows show it, all of them."""
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

    def follows(place: int, power: int) -> bool:
        places = (devices[0], measured[0], place)
        close = following(raw, places, of_times=of_times, close=_CLOSE, power=power)
        few = bool(close) and all(close) and _are_above_one(raw.cells(stated[0]), _FAR_ABOVE)
        return few or (len(close) >= _FEWEST and sum(close) >= _MOST * len(close))

    if not _are_above_one(raw.cells(stated[0]), _ABOVE) or not follows(stated[0], 0):
        return meanings
    found = with_role(meanings, stated[0], "printed_speedup")
    for place, one in enumerate(found):
        free = one.role == "ignore" and normal(one.header) not in said and not is_utilization(one.header)
        if free and most_are("efficiency", raw.cells(place)) and follows(place, 1):
            return with_role(found, place, "printed_efficiency")
    return found


def _are_above_one(cells: Sequence[str], limit: float) -> bool:
    """Whether most percentages but the first are too large for efficiencies. Those of weak scaling follow too."""
    if not most_are("efficiency", cells):
        return False
    above = [cell for cell in cells if share([cell], read_cell) and read_cell(cell).printed.value > limit]
    return len(above) >= _MOST * (len(cells) - 1)
