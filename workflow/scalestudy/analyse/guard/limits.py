"""Limits of a guard: a quantity, and how much worse it may become."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p

from scalestudy.record.document import Part


@dataclass(frozen=True)
class Quantity:
    """A quantity that can have a limit."""

    name: str
    columns: tuple[str, ...]
    """Columns of runs.csv that may contain it; the first one with values on both sides counts."""
    worse: int
    """1 if a larger value is worse, -1 if a smaller value is worse."""
    relative: bool = True
    """Whether a change is a ratio, in percent; otherwise it is a difference of percentages, in points."""
    live: bool = True
    """Whether a single run has a value. A speedup also needs runs of the baseline."""
    timed: bool = True
    """Whether other load on the host changes it."""

    @property
    def sign(self) -> str:
        """The sign between the quantity and its limit."""
        return ">" if self.worse > 0 else "<"


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("step_time", ("step_time_s",), 1),
        Quantity("throughput", ("throughput_samples_per_s",), -1),
        Quantity("epoch_time", ("epoch_time_s",), 1),
        Quantity("peak_memory", ("peak_allocated_gib", "peak_resident_gib"), 1, timed=False),
        Quantity("speedup", (), -1, live=False),
        Quantity("efficiency", (), -1, live=False),
        Quantity("accuracy", ("validation_accuracy",), -1, relative=False, timed=False),
    )
}


class Limit(Part):
    """How much worse a quantity may become."""

    quantity: str
    """Name in QUANTITIES."""
    change: float
    """The largest permitted change, with its sign: a fraction of the value before (0.03 for +3 %), or for an
    accuracy a difference of fractions (-0.005 for -0.5 points)."""

    @property
    def of(self) -> Quantity:
        return QUANTITIES[self.quantity]

    @property
    def worsening(self) -> float:
        """The limit on the scale of the test, positive for worse: a logarithm of a ratio, or a difference."""
        return self.of.worse * (log1p(self.change) if self.of.relative else self.change)

    def change_of(self, worsening: float) -> float:
        """Converts a value on the scale of the test to the scale of `change`."""
        signed = self.of.worse * worsening
        return expm1(signed) if self.of.relative else signed
