"""Printed ratios beside what they are held against."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scalestudy.analyse.published.table import Recomputed
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import MEASURED, PublishedRow

ONE = Interval(1.0, 1.0, 1.0)
FEWEST = 2
"""Printed ratios that another baseline than the smallest scale has to explain; one could agree by chance."""
SMALLEST, UNIT, ROW, BEFORE, SERIAL, TIME, STATED, DEVICES = (
    "smallest",
    "unit",
    "row",
    "before",
    "serial",
    "time",
    "stated",
    "devices",
)

Pair = tuple[Recomputed, Printed, Interval]
"""A scale, its printed ratio, and the one that a baseline gives."""


@dataclass(frozen=True)
class Held:
    """Printed ratios beside what they are held against."""

    kind: str
    """SMALLEST, UNIT (the printed ratio of the smallest scale), ROW, BEFORE (the row before), SERIAL (a serial
    time beside each), TIME (another measurement), STATED (the printed speedups), DEVICES (one device per unit of
    speedup)."""
    row: PublishedRow | None
    """The baseline if it is a row."""
    pairs: tuple[Pair, ...]
    """Scales with the printed and the expected ratio, as far as there is one."""

    @property
    def outside(self) -> tuple[Pair, ...]:
        """Those that rounding does not explain.

        A number may be cut instead of rounded, unless another of the same ratios is rounded up.
        """
        close = 2 * max((_rounding_of_zeros(scale.row) for scale, _, _ in self.pairs), default=0.0)
        rounded = any(_is_rounded_up(printed, computed, close) for _, printed, computed in self.pairs)
        return tuple(
            (scale, printed, computed)
            for scale, printed, computed in self.pairs
            if not overlap(printed, computed)
            or (rounded and _is_cut(printed, computed, close))
            or _is_above(printed, computed, close)
        )

    def without_outside(self) -> Held:
        """Returns the ratios that rounding explains."""
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair not in self.outside))


def _rounding_of_zeros(row: PublishedRow) -> float:
    """The largest share by which measurements may be rounded that end with zeros: 12,300 may be 12,250."""
    numbers = [row.numbers[role].value for role in MEASURED if role in row.numbers]
    zeros = [(len(text) - len(text.rstrip("0")), float(text)) for text in map("{:.0f}".format, numbers)]
    return max((10**count / value / 2 for count, value in zeros if count and value > 0), default=0.0)


def _is_rounded_up(printed: Printed, computed: Interval, close: float) -> bool:
    """Whether a printed number is above the computed one, by no more than rounding: 6.15 for 6.146.

    close: share by which the computed one may be another, since measurements end with zeros.
    """
    slack = close * abs(printed.value) + 1e-9 * abs(printed.value)
    return computed.high < printed.value - slack and computed.low >= printed.value - _half(printed)


def _is_cut(printed: Printed, computed: Interval, close: float) -> bool:
    """Whether a computed number is nearer to the next printed one: 10.277 beside 10.2."""
    return computed.low > printed.value + _half(printed) + (close + 1e-9) * abs(printed.value)


def _is_above(printed: Printed, computed: Interval, close: float) -> bool:
    """Whether a printed number is above what rounding and cutting give: 92.0 for 91.905."""
    return computed.high < printed.value - _half(printed) - (close + 1e-9) * abs(printed.value)


def _half(printed: Printed) -> float:
    """Half a unit of the last digit; all of an uncertainty that is no such unit, as that of ~3.5."""
    return printed.last / 2 if printed.plain else printed.last


def overlap(printed: Printed, computed: Interval) -> bool:
    """Returns whether a printed number and a computed one may be the same."""
    slack = 1e-9 * abs(printed.value)  # of binary fractions
    return printed.low <= computed.high + slack and computed.low <= printed.high + slack
