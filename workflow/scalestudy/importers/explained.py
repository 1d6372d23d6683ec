"""Columns without a known header from which the printed speedups follow: a time or a throughput."""

from __future__ import annotations

from scalestudy.importers.cells import read_cell, share
from scalestudy.importers.following import following
from scalestudy.importers.headers import Meaning, never_a_label, normal, with_role
from scalestudy.importers.published import MEASURED
from scalestudy.importers.raw import RawTable

_CLOSE = 0.02
"""Relative difference up to which a ratio follows. Wider than rounding."""
_FEWEST = 2
"""Rows beside that of the baseline from which the ratio follows by no chance."""
_MOST = 0.7
"""Share of the rows from which it has to follow; others may contradict."""
_NUMBERS = 0.9
"""Share of the cells of a measurement that are numbers."""


def by_printed_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read the only column from which the printed ratios follow as the measurement, if no header names one."""
    devices = [place for place, one in enumerate(meanings) if one.role == "gpus"]
    ratios = [place for place, one in enumerate(meanings) if one.role in _POWERS]
    if len(devices) != 1 or not ratios or any(one.role in MEASURED for one in meanings):
        return meanings
    power = _POWERS[meanings[ratios[0]].role]
    found = []
    for place, one in enumerate(meanings):
        free = one.role in ("ignore", "label") and normal(one.header) not in said and not never_a_label(one.header)
        if not free or share(raw.cells(place), read_cell) < _NUMBERS:
            continue
        for role in ("time_s", "throughput"):
            places = (devices[0], place, ratios[0])
            close = following(raw, places, of_times=role == "time_s", close=_CLOSE, power=power)
            if len(close) >= _FEWEST and sum(close) > _MOST * len(close):
                found.append((place, role))
    return with_role(meanings, *found[0]) if len(found) == 1 else meanings


_POWERS = {"printed_speedup": 0, "printed_efficiency": 1}
"""Ratios of measurements -> the power of the devices that they are divided by."""
