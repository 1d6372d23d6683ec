"""How many printed ratios a reading of a published table explains, and which reading that decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

from scalestudy.analyse.published.series import Series
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import STATED, PublishedRow

CLOSE = 0.05
"""Relative difference up to which a reading explains a printed ratio. Wider than rounding: tables have errors."""

_HARDLY_ABOVE = 1.1
"""An efficiency may be a little above 1."""
_BEYOND = 1.5
"""Speedup for each device from which a time is not one of growing work."""
Rate = Callable[[PublishedRow], float | None]
Way = tuple[str, str, Rate]
"""A reading: its column, whose its numbers are, and the rate of a row."""


def explained_by(series: Sequence[Series], rate: Rate, stated: str) -> int:
    """Return the number of printed ratios that a reading explains. stated: what a column of scaling ratios is."""
    return sum(_explained(one.rows, rate, stated) for one in series)


def best_explained(series: Sequence[Series], steps: list[Way], whole: list[Way]) -> list[Way]:
    """Return the times of a whole run, which need no batch, unless only the step times explain printed ratios."""

    def explained(ways: list[Way]) -> int:
        first = ways[0][0]
        return max(_most_explained(series, rate) for role, _, rate in ways if role == first)

    return steps if explained(steps) > explained(whole) else whole


def explains_all(series: Sequence[Series], ways: list[Way], printed: int) -> bool:
    """Return whether a reading of the first of several columns explains all printed ratios, two or more."""
    first = ways[0][0]
    return printed > 1 and max(_most_explained(series, rate) for role, _, rate in ways if role == first) == printed


def shows_constant_work(series: Sequence[Series], by_batch: Rate, printed: int) -> bool:
    """Return whether times of constant work alone explain the printed ratios, and no times by their batches.

    A batch per device that is the same in each row may be one of a loop over a fixed data set.
    """

    return not _most_explained(series, by_batch) and _most_explained(series, constant_work) > printed / 2


def constant_work(row: PublishedRow) -> float | None:
    """Return the rate of a step of constant work."""
    time = row.number("step_time_s")
    return 1 / time if time else None


def is_beyond_its_devices(series: Sequence[Series], rate: Rate) -> bool:
    """Return whether a time as one of growing work gives far more speedup than devices in every series."""
    ratios = []
    for one in series:
        known = sorted((row.gpus, found) for row in one.rows if (found := rate(row)))
        if known and known[-1][0] > known[0][0]:
            ratios.append(known[-1][1] / known[0][1] / (known[-1][0] / known[0][0]))
    return bool(ratios) and min(ratios) > _BEYOND


def are_below_one(series: Sequence[Series]) -> bool:
    """Return whether scaling ratios on more devices than the fewest are at most about 1: efficiencies."""
    rows = [row for one in series for row in one.rows if row.gpus > min(other.gpus for other in one.rows)]
    values = [value for row in rows if (value := row.number("scaling_ratio")) is not None]
    return bool(values) and max(values) <= _HARDLY_ABOVE


def ratios_of(rows: Sequence[PublishedRow]) -> int:
    """Return the number of printed ratios of rows other than the smallest scale's."""
    smallest = min((row.gpus for row in rows), default=0)
    return sum(role in row.numbers for row in rows if row.gpus > smallest for role in STATED)


def _most_explained(series: Sequence[Series], rate: Rate) -> int:
    """The number of printed ratios that a reading explains by the better meaning of a scaling ratio."""
    return max(explained_by(series, rate, stated) for stated in ("speedup", "efficiency"))


def _explained(rows: Sequence[PublishedRow], rate: Rate, stated: str) -> int:
    """The number of printed ratios of one series that a reading explains."""
    known = [(row, found) for row in rows if (found := rate(row)) is not None]
    if not known:
        return 0
    base, base_rate = min(known, key=lambda item: item[0].gpus)
    unit = base.number("printed_speedup") or base.number("scaling_ratio") or 1.0
    count = 0
    for row, found in known:
        if row.gpus == base.gpus:
            continue
        speedup = found / base_rate
        efficiency = speedup * base.gpus / row.gpus
        for role, computed in (
            ("printed_speedup", speedup * unit),
            ("printed_efficiency", efficiency),
            ("scaling_ratio", efficiency if stated == "efficiency" else speedup * unit),
        ):
            printed = row.numbers.get(role)
            count += printed is not None and printed.value > 0 and _agree(printed, computed)
    return count


def _agree(printed: Printed, computed: float) -> bool:
    """Whether a computed ratio is close to a printed one, or within the last digit of it, rounded or cut."""
    return abs(log(printed.value / computed)) < CLOSE or abs(printed.value - computed) <= printed.last
