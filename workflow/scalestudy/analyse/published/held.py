"""Printed ratios beside what they are held against."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scalestudy.analyse.published.table import Recomputed
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import PublishedRow

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


@dataclass(frozen=True)
class Held:
    """Printed ratios beside what they are held against."""

    kind: str
    """SMALLEST, UNIT (the printed ratio of the smallest scale), ROW, BEFORE (the row before), SERIAL (a serial
    time beside each), TIME (another measurement), STATED (the printed speedups), DEVICES (one device per unit of
    speedup)."""
    row: PublishedRow | None
    """The baseline if it is a row."""
    pairs: tuple[tuple[Recomputed, Printed, Interval], ...]
    """Scales with the printed and the expected ratio, as far as there is one."""

    @property
    def outside(self) -> tuple[tuple[Recomputed, Printed, Interval], ...]:
        """Those that rounding does not explain."""
        return tuple(pair for pair in self.pairs if not overlap(pair[1], pair[2]))

    def without_outside(self) -> Held:
        """Returns the ratios that rounding explains."""
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair not in self.outside))


def overlap(printed: Printed, computed: Interval) -> bool:
    """Returns whether a printed number and a computed one may be the same."""
    slack = 1e-9 * abs(printed.value)  # of binary fractions
    return printed.low <= computed.high + slack and computed.low <= printed.high + slack
