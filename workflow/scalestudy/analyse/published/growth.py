"""How the numbers of a series change from its fewest devices to its most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

from scalestudy.analyse.published.series import Series
from scalestudy.importers.published import PublishedRow

HARDLY = (0.7, 1.25)
"""Ratio of throughputs on many and few devices that rather shows a throughput per device."""
_NEAR_LOWEST = 1.1
"""Ratio of a time to the lowest of its series up to which it still falls."""
FALLS = 0.85
"""Ratio of a time to that on the fewest devices, below which it falls: that of growing work does not."""


def in_order(rows: Sequence[PublishedRow], role: str) -> list[PublishedRow]:
    """Return the rows with a number above 0, fewest devices first; none if all have equally many."""
    known = sorted((row for row in rows if (row.number(role) or 0) > 0), key=lambda row: row.gpus)
    return known if known and known[0].gpus < known[-1].gpus else []


def gain(known: Sequence[PublishedRow], role: str) -> float:
    """Return the ratio of a number on the most devices to that on the fewest. known: rows in order."""
    return (known[-1].number(role) or 1) / (known[0].number(role) or 1)


def hardly(known: Sequence[PublishedRow]) -> float:
    """Return the ratio up to which a throughput hardly grows. known: rows in order.

    It is less than half a doubling if devices do not even double.
    """
    return min(HARDLY[1], sqrt(known[-1].gpus / known[0].gpus))


def falls(known: Sequence[PublishedRow], role: str, below: float) -> bool:
    """Return whether a time falls below a share of that on the fewest devices. known: rows in order."""
    first = known[0].number(role) or 1.0
    return any((row.number(role) or first) < first * below for row in known[1:] if row.gpus > known[0].gpus)


def ends_low(known: Sequence[PublishedRow], role: str) -> bool:
    """Return whether a time falls, and is on the most devices not far above its lowest. known: rows in order."""
    last = known[-1].number(role) or 0.0
    return gain(known, role) < 1 and last <= _NEAR_LOWEST * min(row.number(role) or last for row in known)


def time_grows(rows: Sequence[PublishedRow], role: str, by: float) -> bool:
    """Return whether a time on the most devices is longer than on the fewest, by more than the share `by`."""
    known = sorted((row.gpus, row.number(role) or 0.0) for row in rows)
    return len(known) > 1 and known[-1][1] > known[0][1] * (1 + by)


def throughput_grows(series: Iterable[Series]) -> bool:
    """Return whether the throughput of a series is largest on its most devices."""
    known = [sorted((row.gpus, row.throughput.value) for row in one.rows if row.throughput) for one in series]
    return any(rates[-1][1] == max(rate for _, rate in rates) > rates[0][1] for rates in known if rates)
