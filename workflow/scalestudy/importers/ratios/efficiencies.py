"""Columns in per cent with the name of another ratio: an efficiency of 191 % on two devices, a speedup of 96 %."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import isclose

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import Meaning, is_utilization, normal, place_of_devices, with_role
from scalestudy.importers.numbers.printed import read_cell, share
from scalestudy.importers.numbers.repeats import repeats_in, unit_of_repeats
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.quantities import most_are
from scalestudy.importers.ratios.following import following
from scalestudy.importers.raw import RawTable

_CLOSE = 0.03
"""Relative difference up to which a ratio follows from the measurement beside it. Wider than rounding."""
_CLOSE_TO_FEW_DIGITS = 0.1
"""The same for speedups below 1, which have few digits: 0.06."""
_ABOVE = 110.0
"""Per cent above which a number is rather a speedup than an efficiency."""
_FAR_ABOVE = 150.0
"""Per cent above which it is one even if fewer rows show it, all of them."""
_FEWEST = 3
_MOST = 0.75
"""Rows that have to show it, and their share of all."""


def by_their_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads efficiencies that follow as speedups as these, and a share beside them as the efficiency.

    Speedups in per cent, or of at most 1, that follow as efficiencies are read as such.
    """
    devices = [place for place, one in enumerate(meanings) if one.role == "gpus"]
    devices = devices or [place for place, one in enumerate(meanings) if one.role == "nodes"]
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if len(devices) != 1 or len(measured) != 1:
        return meanings
    of_times = meanings[measured[0]].role in TIMES

    def follows(place: int, power: int) -> bool:
        places = (devices[0], measured[0], place)
        close = following(raw, meanings, places, of_times=of_times, close=_CLOSE, power=power)
        shares = _are_at_most_one(raw.cells(place)) or most_are("efficiency", raw.cells(place))
        clear = _are_above_one(raw.cells(place), _FAR_ABOVE) or (power == 1 and shares)
        few = bool(close) and all(close) and clear
        return few or (len(close) >= _FEWEST and sum(close) >= _MOST * len(close))

    efficiency, speedup = (_only(meanings, role, said) for role in ("printed_efficiency", "printed_speedup"))
    if efficiency is not None and _are_above_one(raw.cells(efficiency), _ABOVE) and follows(efficiency, 0):
        found = with_role(meanings, efficiency, "printed_speedup")
        for place, one in enumerate(found):
            free = one.role == "ignore" and normal(one.header) not in said and not is_utilization(one.header)
            if free and most_are("efficiency", raw.cells(place)) and follows(place, 1):
                return with_role(found, place, "printed_efficiency")
        return found
    if efficiency is None and speedup is not None:
        cells = raw.cells(speedup)
        shares = most_are("efficiency", cells) and not _are_above_one(cells, _ABOVE)
        if (shares or _are_at_most_one(cells)) and follows(speedup, 1):
            return with_role(meanings, speedup, "printed_efficiency")
    return meanings


def without_shares(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out speedups that are all of at most 1 beside efficiencies: they are shares of something else.

    An example is the efficiency over one node, `0.83`, beside that over one device.
    """
    if not any(one.role == "printed_efficiency" for one in meanings):
        return meanings
    return [
        replace(one, role="ignore")
        if one.role == "printed_speedup"
        and len(raw.cells(at)) > 1
        and _are_at_most_one(raw.cells(at))
        and not _follow(meanings, raw, at)
        and not _agree_with_efficiencies(meanings, raw, at)
        and normal(one.header) not in said
        else one
        for at, one in enumerate(meanings)
    ]


def _follow(meanings: list[Meaning], raw: RawTable, place: int) -> bool:
    """Whether all speedups of at most 1 follow from the measurement: more devices are slower."""
    devices, measured = place_of_devices(meanings), [at for at, one in enumerate(meanings) if one.role in MEASURED]
    if devices is None or len(measured) != 1:
        return False
    of_times = meanings[measured[0]].role in TIMES
    places = (devices, measured[0], place)
    close = following(raw, meanings, places, of_times=of_times, close=_CLOSE_TO_FEW_DIGITS, power=0)
    return len(close) > 1 and all(close)


def _agree_with_efficiencies(meanings: list[Meaning], raw: RawTable, place: int) -> bool:
    """Whether speedups are, in each row, the efficiency times the devices: 0.82 and 41 % on 2 devices."""
    devices = place_of_devices(meanings)
    beside = [at for at, one in enumerate(meanings) if one.role == "printed_efficiency"]
    if devices is None or len(beside) != 1:
        return False
    agree = []
    for _, row in raw.rows:
        with suppress(ValueError, IndexError):
            efficiency = read_cell(row[beside[0]])
            one = efficiency.printed.value / (100 if efficiency.percent else 1)
            ratio, gpus = read_cell(row[place]).printed.value, read_count(row[devices]).gpus
            agree.append((gpus, isclose(ratio, one * gpus, rel_tol=_CLOSE_TO_FEW_DIGITS)))
    return sum(gpus > 1 for gpus, _ in agree) > 1 and all(same for _, same in agree)


def _only(meanings: Sequence[Meaning], role: str, said: set[str]) -> int | None:
    """Return the place of the only column of a kind, unless the user says what it is."""
    places = [place for place, one in enumerate(meanings) if one.role == role]
    return places[0] if len(places) == 1 and normal(meanings[places[0]].header) not in said else None


def _are_at_most_one(cells: Sequence[str]) -> bool:
    """Whether no number of a column is clearly above 1, so that more devices would give no speedup."""
    if any(repeats_in(cell) for cell in cells if not share([cell], read_cell)):  # 1.71-1.72x
        cells = [unit_of_repeats(cell) for cell in cells]
    numbers = [read_cell(cell) for cell in cells if share([cell], read_cell)]
    return bool(numbers) and all(not one.percent and one.printed.value <= _ABOVE / 100 for one in numbers)


def _are_above_one(cells: Sequence[str], limit: float) -> bool:
    """Whether most percentages but the first are too large for efficiencies. Those of weak scaling follow too."""
    if not most_are("efficiency", cells):
        return False
    above = [cell for cell in cells if share([cell], read_cell) and read_cell(cell).printed.value > limit]
    return len(above) >= _MOST * (len(cells) - 1)
