"""Intervals over runs. The run is the unit of replication: steps inside one are correlated.

Positive quantities are analysed on the log scale, so that a speedup and its inverse, or a step time and its
throughput, have the same interval and cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, hypot, inf, isnan, log, nan, sqrt
from statistics import NormalDist

import numpy as np
import pandas as pd

from scalestudy.record.document import Real
from scalestudy.registry.codes import Shows
from scalestudy.registry.column import Row

ROUNDING = 1e-12
"""Largest difference of logarithms that rounding of floats explains. No clock resolves such a difference.

The logarithm of the largest float is below 710, so that its rounding error is below 2e-13."""
RELATIVE_TOLERANCE = 1e-9
"""Relative difference from a threshold that counts as none: far more than rounding of floats, far less than any
interval."""


def is_below(number: float, threshold: float) -> bool:
    """Returns whether a number is below a threshold of at least 0 by more than rounding of floats."""
    return number < threshold * (1 - RELATIVE_TOLERANCE)


def is_above(number: float, threshold: float) -> bool:
    """Returns whether a number is above a threshold of at least 0 by more than rounding of floats."""
    return number > threshold * (1 + RELATIVE_TOLERANCE)


@dataclass(frozen=True)
class Interval:
    """A value with its confidence limits; the limits are nan with fewer than two runs."""

    value: Real
    low: Real = nan
    high: Real = nan

    def map(self, function: Callable[[float], float]) -> Interval:
        """Returns the interval of an increasing function of the quantity."""
        return Interval(function(self.value), function(self.low), function(self.high))

    def falling(self, function: Callable[[float], float]) -> Interval:
        """Returns the interval of a decreasing function of the quantity; the limits change places."""
        return Interval(function(self.value), function(self.high), function(self.low))

    def scaled(self, factor: float) -> Interval:
        """Returns the interval of `factor` times the quantity; factor > 0."""
        assert factor > 0
        return self.map(lambda number: number * factor)

    @classmethod
    def of(cls, row: Row, name: str) -> Interval:
        """Reads the interval that `columns` has put into a row."""
        return cls(row[name], row[f"{name}_low"], row[f"{name}_high"])

    def columns(self, name: str) -> dict[str, float]:
        """Returns NAME, NAME_low and NAME_high, as in tables."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

    def inverse(self, numerator: float = 1.0) -> Interval:
        """Returns the interval of `numerator` over the quantity."""
        return self.falling(lambda number: numerator / number)

    def widened(self, by: float) -> Interval:
        """Returns the same positive value, with an additional half-width on the log scale in quadrature."""
        below, above = (hypot(log(self.value / limit), by) for limit in (self.low, self.high))
        return Interval(self.value, self.value * exp(-below), self.value * exp(above))

    @property
    def relative_half_width(self) -> float:
        """Returns the half-width on the log scale, used for verdicts and intervals: 0.01 is 1 %."""
        return inf if self.low == 0 else log(self.high / self.low) / 2

    def leaves_out(self, number: float) -> bool:
        """Returns whether a number is beyond the limits; never without limits."""
        return is_above(self.low, number) or is_below(self.high, number)


NOTHING = Interval(nan)


def product(first: Interval, second: Interval) -> Interval:
    """Returns the product of two positive, independent quantities.

    Half-widths of their logarithms add in quadrature; without limits of both there are none.
    """
    value = first.value * second.value
    limits = (first.low, first.high, second.low, second.high)
    if isnan(value) or any(isnan(limit) or limit <= 0 for limit in limits):
        return Interval(value)
    below = hypot(log(first.value / first.low), log(second.value / second.low))
    above = hypot(log(first.high / first.value), log(second.high / second.value))
    return Interval(value, value * exp(-below), value * exp(above))


def less(first: Interval, second: Interval) -> Interval:
    """Returns `first` minus `second`, two independent quantities, from their own limits.

    Distances to the limits add in quadrature, lower with upper ones, so that asymmetric intervals stay asymmetric.
    Without limits of both there are none. Source: Zou and Donner (2008), Statistics in Medicine 27 (MOVER).
    """
    value = first.value - second.value
    below = hypot(first.value - first.low, second.high - second.value)
    above = hypot(first.high - first.value, second.value - second.low)
    return Interval(value, value - below, value + above)


def shows(interval: Interval, *, than: float, below: Shows, above: Shows) -> Shows:
    """Returns what an interval shows about a quantity, compared with a number."""
    if isnan(interval.value):
        return Shows.NONE
    if isnan(interval.low):
        return Shows.NO_INTERVAL
    if is_below(interval.high, than):
        return below
    return above if is_above(interval.low, than) else Shows.NO_DIFFERENCE


Numbers = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Sample:
    """One value per run. `deciding`: the values whose spread determined their number; all if None.

    If runs were added because the first ones varied, the spread of all of them is biased, but the first ones' is
    not: an interval with the mean of all, and spread and degrees of freedom of the first, has exact coverage.
    Source: Stein (1945), Annals of Mathematical Statistics 16.
    """

    values: Numbers
    deciding: Numbers | None = None
    rounding: float = 0.0
    """Difference between values up to which they are equal: ROUNDING for logarithms and their differences."""

    def logs(self) -> Sample:
        """Returns logarithms; raises ValueError if a value is not positive."""
        return Sample(_logs(self.values), None if self.deciding is None else _logs(self.deciding), ROUNDING)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def freedom(self) -> int:
        """Returns the degrees of freedom of the spread; below 1 there is no spread."""
        return len(self._spread) - 1

    @property
    def variance_of_mean(self) -> float:
        """Returns the squared standard error of the mean: exactly 0 if the values are equal.

        The variance of equal numbers as floats need not be 0, because their mean is rounded.
        """
        if self.freedom >= 1 and np.ptp(self._spread) <= self.rounding:
            return 0.0
        return float(np.var(self._spread, ddof=1)) / len(self.values)

    @property
    def _spread(self) -> Numbers:
        return self.values if self.deciding is None else self.deciding


Values = Numbers | pd.Series | Sample


def from_log(number: float) -> float:
    """Returns e to this power: the inverse of a logarithm. inf if it is larger than any float."""
    try:
        return exp(number)
    except OverflowError:
        return inf


def mean_on_logs(values: Values, *, confidence: float) -> Interval:
    """Returns the geometric mean of positive values, one per run, with Student's t interval on logarithms."""
    return mean(_sample(values).logs(), confidence=confidence).map(from_log)


def ratio_on_logs(above: Values, below: Values, *, confidence: float) -> Interval:
    """Returns the ratio of geometric means of two independent samples, with Welch's interval on the log scale.

    theta = mean(ln above) - mean(ln below), degrees of freedom by Welch-Satterthwaite, exponentiated. No limits if
    either sample has fewer than two values. Source: METHOD; Welch (1947), Biometrika 34.
    """
    return difference(_sample(above).logs(), _sample(below).logs(), confidence=confidence).map(from_log)


def difference(above: Values, below: Values, *, confidence: float) -> Interval:
    """Returns the difference of means of two independent samples with Welch's interval."""
    a, b = _sample(above), _sample(below)
    if len(a.values) == 0 or len(b.values) == 0:
        return NOTHING
    value = a.mean - b.mean
    if a.freedom < 1 or b.freedom < 1:
        return Interval(value)
    va, vb = a.variance_of_mean, b.variance_of_mean
    half = 0.0
    if va + vb != 0:
        freedom = (va + vb) ** 2 / (va**2 / a.freedom + vb**2 / b.freedom)
        half = t_quantile(confidence, freedom) * sqrt(va + vb)
    return Interval(value, value - half, value + half)


def mean(values: Values, *, confidence: float, least_spread: float = 0.0) -> Interval:
    """Returns the arithmetic mean with Student's t interval, for values that may be zero or negative, such as
    differences.

    least_spread: known minimum of a value's standard deviation, in the unit of the values. Because it is known, it
    is used with the quantile of the normal distribution.
    """
    sample = _sample(values)
    if len(sample.values) == 0:
        return NOTHING
    if sample.freedom < 1:
        return Interval(sample.mean)
    known = least_spread * normal_quantile(confidence) / sqrt(len(sample.values))
    half = max(t_quantile(confidence, sample.freedom) * sqrt(sample.variance_of_mean), known)
    return Interval(sample.mean, sample.mean - half, sample.mean + half)


def _sample(values: Values) -> Sample:
    return values if isinstance(values, Sample) else Sample(np.asarray(values, dtype=float))


def _logs(values: Numbers) -> np.ndarray:
    if any(value <= 0 for value in values):
        raise ValueError(f"a positive quantity has a value of {min(values)}")
    return np.array([log(value) for value in values], dtype=float)


def normal_quantile(confidence: float) -> float:
    """Returns the half-width of a two-sided interval of the normal distribution, in standard deviations."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def t_quantile(confidence: float, freedom: float) -> float:
    """Returns the half-width of a two-sided interval of Student's t distribution, in standard errors."""
    from scipy.special import (
        stdtrit,
    )  # documents read intervals and calculate none; this import takes longer than some of them

    return float(stdtrit(freedom, 0.5 + confidence / 2))
