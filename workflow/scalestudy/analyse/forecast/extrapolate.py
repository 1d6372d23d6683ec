"""Prediction of a scale that was not measured, with an interval, or the reason for a missing prediction.

The interval combines all growth models, each with its weight and with the discrepancy that published tables show.
If the measured scales cannot distinguish between the models, the interval spans all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, hypot, log

import numpy as np
from scipy.special import stdtr, stdtrit

from scalestudy.analyse.forecast.columns import NoFitError, Place
from scalestudy.analyse.forecast.discrepancy import (
    ACROSS_NODES,
    FREEDOM,
    IN_A_NODE,
    NOISE,
    WIDEST,
    Side,
    discrepancy,
)
from scalestudy.analyse.forecast.fit import ASSUMED_ERROR, Scale, Weighed, capped, fit_all
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import Refused
from scalestudy.study.config.report import FARTHEST_SCALE

BISECTIONS = 60
_FARTHEST_LOG = 300.0
"""Largest logarithm of a limit, far beyond WIDEST. The exponential of a larger one is no number."""
USUAL_CONFIDENCE = 0.9
"""Confidence at which the constants were set, and at which limits are too wide for a forecast."""
LEAST_WEIGHT = 0.5
"""Smallest weight of the growth models that give a positive step time, of all that were fitted."""


@dataclass(frozen=True)
class Measured:
    """A measured place: step time, and its relative standard error (nan without an interval)."""

    place: Place
    step_time_s: float
    error: float = float("nan")


@dataclass(frozen=True)
class Forecast:
    """A prediction at a place that was not measured; the speedup is relative to the baseline."""

    step_time_s: Interval
    speedup: Interval
    laws: tuple[Weighed, ...]


@dataclass(frozen=True)
class Mixture:
    """The distribution of the step time over all growth models, on the log scale.

    Each model has a t distribution about its prediction, with a scale for each side.
    """

    places: np.ndarray
    weights: np.ndarray
    faster: np.ndarray
    slower: np.ndarray

    def limits(self, confidence: float) -> Interval:
        """Returns median and limits of the step time."""
        levels = (0.5, (1 - confidence) / 2, (1 + confidence) / 2)
        logs = (max(-_FARTHEST_LOG, min(_FARTHEST_LOG, self._quantile(level))) for level in levels)
        return Interval(*map(exp, logs))

    def below(self, value: float) -> float:
        """Returns the probability of a smaller value."""
        away = value - self.places
        return float(self.weights @ stdtr(FREEDOM, away / np.where(away < 0, self.faster, self.slower)))

    def _quantile(self, level: float) -> float:
        """Returns a quantile by bisection between those of the models' own distributions."""
        of_parts = self.places + (self.faster if level < 0.5 else self.slower) * stdtrit(FREEDOM, level)
        low, high = float(of_parts.min()), float(of_parts.max())
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if self.below(middle) < level:
                low = middle
            else:
                high = middle
        return (low + high) / 2


def forecast(measured: Sequence[Measured], target: Place, *, strong: bool, confidence: float = 0.9) -> Forecast:
    """Returns step time and speedup at a place, from measured places; the smallest of them is the baseline.

    Raises NoFitError, with the reason, if the measured places do not permit it: another tier of the machine, too
    far, too few, or limits that are too far apart.
    """
    base = min(measured, key=lambda point: point.place.ranks)
    laws, scales, size = models_at(measured, target, strong=strong)
    mixture = _mixture(laws, scales, target, size, strong=strong)
    usual = mixture.limits(USUAL_CONFIDENCE)
    if usual.high > WIDEST * usual.low:
        raise NoFitError(Refused.TOO_WIDE, value=usual.high / usual.low, limit=WIDEST)
    times = mixture.limits(confidence)
    work = target.ranks / base.place.ranks if not strong else 1.0
    return Forecast(times, times.inverse(work * base.step_time_s), tuple(laws))


def models_at(
    measured: Sequence[Measured], target: Place, *, strong: bool
) -> tuple[list[Weighed], list[Scale], float]:
    """Returns (the growth models that are possible at a target, the sizes they were fitted to, the target's size).

    Raises NoFitError as forecast does, except for limits that are too far apart.
    """
    scales, unit = _in_one_tier(measured, target)
    largest = max(scale.n for scale in scales)
    size = target.ranks / unit
    if size > FARTHEST_SCALE * largest:
        raise NoFitError(Refused.TOO_FAR, value=size / largest, limit=FARTHEST_SCALE)
    return _possible(fit_all(scales, strong=strong), size), scales, size


def _in_one_tier(measured: Sequence[Measured], target: Place) -> tuple[list[Scale], int]:
    """Returns (the sizes that are informative for the target's tier, ranks of a size of 1).

    Inside a node the unit is the rank. Across nodes the unit is the node: a whole node is the base, and at least
    one place on several nodes must show the cost of the network between them.
    """
    if target.nodes == 1:
        unit = min(point.place.ranks for point in measured)
        inside = [point for point in measured if point.place.nodes == 1]
    else:
        unit = target.devices_per_node
        inside = [point for point in measured if point.place.devices_per_node == unit]
        if not any(point.place.nodes > 1 for point in inside):
            raise NoFitError(Refused.NETWORK_NOT_MEASURED)
    return [Scale(point.place.ranks / unit, point.step_time_s, point.error) for point in inside], unit


def _possible(laws: Sequence[Weighed], size: float) -> list[Weighed]:
    """Returns the growth models with a positive step time at a size, with weights that add up to 1.

    The share of those that are impossible there must not make one of the others certain.

    Raises NoFitError if they have less than LEAST_WEIGHT together: the data favour models that are impossible
    there.
    """
    found = [item for item in laws if item.fit.step_time_s(size) > 0]
    weight = sum(item.weight for item in found)
    if weight < LEAST_WEIGHT:
        raise NoFitError(Refused.OVERHEAD_NEGATIVE)
    weights = capped([item.weight / weight for item in found])
    return [replace(item, weight=own) for item, own in zip(found, weights, strict=True)]


def _mixture(
    laws: Sequence[Weighed], scales: Sequence[Scale], target: Place, size: float, *, strong: bool
) -> Mixture:
    """Returns the distribution of the step time at a target, from the growth models that are possible there."""
    sides = IN_A_NODE if target.nodes == 1 else ACROSS_NODES

    between = size < max(scale.n for scale in scales)

    def spreads(side: Side) -> np.ndarray:
        beyond = side.share * discrepancy(scales, size, side, strong=strong)
        # The shares were set beyond the largest size. Between sizes, the error of a value is larger than they are.
        known = NOISE * (1.0 if between else side.share)
        own = NOISE * ASSUMED_ERROR if between else 0.0
        return np.array([hypot(known * item.fit.error(size), own, beyond) for item in laws])

    places = np.array([log(item.fit.step_time_s(size)) for item in laws])
    weights = np.array([item.weight for item in laws])
    return Mixture(places, weights, spreads(sides.faster), spreads(sides.slower))
