"""Limits of a guard: a quantity, and how much worse it may become."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p

from scalestudy.record.document import Part


@dataclass(frozen=True)
class Quantity:
    """Something that every launch has a value of."""

    name: str
    columns: tuple[str, ...]
    """Columns of a launch that may have it; the first one that both sides have counts."""
    worse: int
    """1 where a larger value is worse, -1 where a smaller one is."""
    relative: bool = True
    """Whether a change is a ratio, in percent; else a difference of percentages, in points."""
    live: bool = True
    """Whether a single launch has it. A speedup needs launches of the base case."""

    @property
    def sign(self) -> str:
        """The sign that stands between the quantity and its limit."""
        return ">" if self.worse > 0 else "<"


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("step_time", ("step_time_s",), 1),
        Quantity("throughput", ("throughput_samples_per_s",), -1),
        Quantity("epoch_time", ("epoch_time_s",), 1),
        Quantity("peak_memory", ("peak_allocated_gib", "peak_resident_gib"), 1),
        Quantity("speedup", (), -1, live=False),
        Quantity("efficiency", (), -1, live=False),
        Quantity("accuracy", ("validation_accuracy",), -1, relative=False),
    )
}


class Limit(Part):
    """How much worse a quantity may become."""

    quantity: str
    """Name in QUANTITIES."""
    change: float
    """The change that is the limit, with its sign: a fraction of the value before, 0.03 for +3 %; of an accuracy
    a difference of fractions, -0.005 for -0.5 points."""

    @property
    def of(self) -> Quantity:
        return QUANTITIES[self.quantity]

    @property
    def worsening(self) -> float:
        """The limit on the scale of the test: positive is worse. A logarithm of a ratio, or a difference."""
        return self.of.worse * (log1p(self.change) if self.of.relative else self.change)

    def change_of(self, worsening: float) -> float:
        """A value on the scale of the test as `change` has it."""
        signed = self.of.worse * worsening
        return expm1(signed) if self.of.relative else signed
