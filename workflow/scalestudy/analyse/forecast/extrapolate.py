"""Prediction of a scale that was not measured, with an interval, or the reason for a missing prediction.

The interval combines all growth models, each with its weight. If the measured scales cannot distinguish between
the models, the interval spans all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from scalestudy.analyse.forecast.columns import NoFitError, Place
from scalestudy.analyse.forecast.fit import Scale, Weighed, fit_all
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import Refused
from scalestudy.study.config.report import FARTHEST_SCALE

DRAWS = 2001
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


def forecast(measured: Sequence[Measured], target: Place, *, strong: bool, confidence: float = 0.9) -> Forecast:
    """Returns step time and speedup at a place, from measured places; the smallest of them is the baseline.

    Raises NoFitError, with the reason, if the measured places do not permit it: another tier of the machine, too
    far, too few.
    """
    base = min(measured, key=lambda point: point.place.ranks)
    scales, unit = _in_one_tier(measured, target)
    largest = max(scale.n for scale in scales)
    size = target.ranks / unit
    if size > FARTHEST_SCALE * largest:
        raise NoFitError(Refused.TOO_FAR, value=size / largest, limit=FARTHEST_SCALE)
    laws = _possible(fit_all(scales, strong=strong), size)
    times = _quantiles(laws, size, confidence)
    work = target.ranks / base.place.ranks if not strong else 1.0
    return Forecast(times, times.inverse(work * base.step_time_s), tuple(laws))


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

    Raises NoFitError if they have less than LEAST_WEIGHT together: the data favour models that are impossible
    there.
    """
    found = [item for item in laws if item.fit.step_time_s(size) > 0]
    weight = sum(item.weight for item in found)
    if weight < LEAST_WEIGHT:
        raise NoFitError(Refused.OVERHEAD_NEGATIVE)
    return [replace(item, weight=item.weight / weight) for item in found]


def _quantiles(laws: Sequence[Weighed], size: float, confidence: float) -> Interval:
    """Returns median and limits of the step time over all growth models, each with a log-normal distribution."""
    normal = ndtri((np.arange(DRAWS) + 0.5) / DRAWS)
    values, weights = [], []
    for item in laws:
        values.append(np.log(item.fit.step_time_s(size)) + item.fit.error(size) * normal)
        weights.append(np.full(DRAWS, item.weight / DRAWS))
    together, weight = np.concatenate(values), np.concatenate(weights)
    order = np.argsort(together)
    cumulated = np.cumsum(weight[order]) / weight.sum()
    levels = (0.5, (1 - confidence) / 2, (1 + confidence) / 2)
    return Interval(*(float(np.exp(together[order][np.searchsorted(cumulated, level)])) for level in levels))
