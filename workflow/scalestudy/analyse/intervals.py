"""Intervals over launches. The launch is the unit of replication: steps inside one are correlated.

Everything positive is treated on the log scale, so that a speedup and its inverse, or a step time and its
throughput, carry the same interval and cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, nan, sqrt

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Interval:
    """A value with its confidence limits; the limits are nan where fewer than two launches were made."""

    value: float
    low: float = nan
    high: float = nan

    def scaled(self, factor: float) -> Interval:
        """The interval of `factor` times the quantity; factor > 0."""
        assert factor > 0
        return Interval(self.value * factor, self.low * factor, self.high * factor)

    def inverse(self, numerator: float = 1.0) -> Interval:
        """The interval of `numerator` over the quantity; the limits change places."""
        return Interval(numerator / self.value, numerator / self.high, numerator / self.low)


NOTHING = Interval(nan)


def mean_on_logs(values: Sequence[float], *, confidence: float) -> Interval:
    """Geometric mean of positive values, one a launch, with Student's t interval on their logarithms."""
    logs = _logs(values)
    if len(logs) == 0:
        return NOTHING
    centre = logs.mean()
    if len(logs) < 2:
        return Interval(exp(centre))
    half = _t(confidence, len(logs) - 1) * logs.std(ddof=1) / sqrt(len(logs))
    return Interval(exp(centre), exp(centre - half), exp(centre + half))


def ratio_on_logs(above: Sequence[float], below: Sequence[float], *, confidence: float) -> Interval:
    """Ratio of geometric means of two independent samples, Welch's interval on the log scale.

    theta = mean(ln above) - mean(ln below), degrees of freedom by Welch-Satterthwaite, exponentiated. No limits
    where either sample has fewer than two values. Source: METHOD; Welch (1947), Biometrika 34.
    """
    a, b = _logs(above), _logs(below)
    if len(a) == 0 or len(b) == 0:
        return NOTHING
    theta = a.mean() - b.mean()
    half = _welch_half_width(a, b, confidence)
    return Interval(exp(theta), exp(theta - half), exp(theta + half))


def difference(above: Sequence[float], below: Sequence[float], *, confidence: float) -> Interval:
    """Difference of means of two independent samples with Welch's interval."""
    a, b = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    if len(a) == 0 or len(b) == 0:
        return NOTHING
    value = float(a.mean() - b.mean())
    half = _welch_half_width(a, b, confidence)
    return Interval(value, value - half, value + half)


def mean(values: Sequence[float], *, confidence: float) -> Interval:
    """Arithmetic mean with Student's t interval; for what may be zero or negative, such as a difference."""
    sample = np.asarray(values, dtype=float)
    if len(sample) == 0:
        return NOTHING
    value = float(sample.mean())
    if len(sample) < 2:
        return Interval(value)
    half = _t(confidence, len(sample) - 1) * float(sample.std(ddof=1)) / sqrt(len(sample))
    return Interval(value, value - half, value + half)


def _welch_half_width(a: np.ndarray, b: np.ndarray, confidence: float) -> float:
    if len(a) < 2 or len(b) < 2:
        return nan
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    if va + vb == 0:
        return 0.0
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return _t(confidence, freedom) * sqrt(va + vb)


def _logs(values: Sequence[float]) -> np.ndarray:
    if any(value <= 0 for value in values):
        raise ValueError(f"a positive quantity has a value of {min(values)}")
    return np.array([log(value) for value in values], dtype=float)


def _t(confidence: float, freedom: float) -> float:
    return float(stats.t.ppf(0.5 + confidence / 2, freedom))
