"""Growth models ("laws") of the overhead of a step with the number of ranks, and their fits to measured scales.

A law is linear in its unknowns: T(n) = T(1) w(n) + sum of x_k g_k(n), with w = 1 if every rank keeps its batch
(weak scaling) and 1 / n if the ranks share one (strong). n counts ranks, or nodes if the node is the unit; g(1) =
0.

A law with p overheads has p + 1 linear unknowns: T(1) and the overheads x, fitted by weighted least squares.
Errors are relative, with one error per point. With two sizes every simple law passes through both points, so they
cannot distinguish between laws. With more sizes, each law predicts every further size from the smaller ones, and
its weight is the product of the densities that it gave to the measured values (prequential weights: Dawid (1984),
JRSS A 147). A part of the weight is shared equally, and more of it while one size has been foretold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, log2, nan, sqrt

import numpy as np

from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.registry.codes import Refused

ASSUMED_ERROR = 0.02
"""Relative standard error of a step time without an interval, as in most published tables."""
DISCREPANCY = 0.02
"""Relative standard deviation between a law and the next size, for each doubling, when the laws are weighed.

The discrepancy of a forecast is in discrepancy.py.
"""

SHARED_WEIGHT = 0.2
"""Part of the weight that all laws share equally, however well one of them predicts: no law is ever certain.

Set on published tables (tests/bench/forecasts.py).
"""
SHARED_AFTER_ONE = 0.5
"""The same with three sizes, of which the laws have foretold one: it may be by chance that a law foretells it."""

Growth = Callable[[float], float]


@dataclass(frozen=True)
class Law:
    """One way in which the overhead may grow."""

    name: str
    growth: tuple[Growth, ...]
    least_sizes: int
    """Smallest number of sizes for a fit, including the baseline."""

    def row(self, n: float, *, strong: bool) -> list[float]:
        """The factors of T(1) and of every x at n."""
        return [1 / n if strong else 1.0, *(grow(n) for grow in self.growth)]


# The same at any number of ranks: the cost of a wrapper, a fabric with full bandwidth for every pair.
CONSTANT = Law("constant", (lambda n: float(n > 1),), 2)
# In strong scaling: shared by the ranks as the computation is, so that the efficiency stays that of two ranks. In
# weak scaling this is CONSTANT.
DIVIDED = Law("divided", (lambda n: float(n > 1) / n,), 2)
# Bytes of a ring all-reduce; in strong scaling Amdahl's law, the serial part of the step.
SHARE = Law("share", (lambda n: 1 - 1 / n,), 2)
# Steps of a tree, the latest of n ranks.
LOGARITHMIC = Law("logarithmic", (lambda n: log2(n),), 2)
# Steps of a ring, or a link or a host that all ranks share.
LINEAR = Law("linear", (lambda n: n - 1.0,), 2)
# Contention and coherence: throughput g n / (1 + a (n - 1) + b n (n - 1)), which is two terms of the step time.
USL_WEAK = Law("usl", (lambda n: n - 1.0, lambda n: n * (n - 1.0)), 5)
USL_STRONG = Law("usl", (lambda n: 1 - 1 / n, lambda n: n - 1.0), 5)


def laws_for(*, strong: bool) -> tuple[Law, ...]:
    """Returns all laws, the simple ones first."""
    if strong:
        return CONSTANT, DIVIDED, SHARE, LOGARITHMIC, LINEAR, USL_STRONG
    return CONSTANT, SHARE, LOGARITHMIC, LINEAR, USL_WEAK


LAWS = tuple(law.name for law in laws_for(strong=True))


@dataclass(frozen=True)
class Scale:
    """A measured scale.

    Its size n in units of the baseline, step time, and relative standard error of the step time.
    """

    n: float
    step_time_s: float
    error: float = nan

    @property
    def known_error(self) -> float:
        return self.error if self.error > 0 else ASSUMED_ERROR


@dataclass(frozen=True)
class Fit:
    """A law with its fitted unknowns in seconds (T(1) first, then the overheads) and their covariance."""

    law: Law
    strong: bool
    unknowns: np.ndarray
    covariance: np.ndarray
    largest: float
    """The largest n that was fitted."""

    def step_time_s(self, n: float) -> float:
        """Returns the seconds of a step at size n."""
        return float(np.dot(self._row(n), self.unknowns))

    def error(self, n: float) -> float:
        """Returns the relative standard error of the fit at n."""
        row = self._row(n)
        return sqrt(max(0.0, float(row @ self.covariance @ row))) / abs(self.step_time_s(n))

    def _row(self, n: float) -> np.ndarray:
        return np.array(self.law.row(n, strong=self.strong))


@dataclass(frozen=True)
class Weighed:
    """A fit, its weight among all, and its largest relative error at predicted sizes (nan if there are none)."""

    fit: Fit
    weight: float
    held_out_error: float


def fit_law(law: Law, scales: Sequence[Scale], *, strong: bool) -> Fit:
    """Fits by weighted least squares. Raises ValueError with fewer sizes than the law needs."""
    scales = _sorted(scales)
    if len({scale.n for scale in scales}) < law.least_sizes:
        raise ValueError(f"{law.name}: needs {law.least_sizes} sizes, but {len(scales)} were measured")
    times = np.array([scale.step_time_s for scale in scales])
    weights = 1 / (times * np.array([scale.known_error for scale in scales]))
    design = np.array([law.row(scale.n, strong=strong) for scale in scales]) * weights[:, None]
    unknowns, *_ = np.linalg.lstsq(design, times * weights, rcond=None)
    return Fit(law, strong, unknowns, np.linalg.pinv(design.T @ design), scales[-1].n)


def fit_all(scales: Sequence[Scale], *, strong: bool) -> list[Weighed]:
    """Returns every law that these sizes permit, the best predictor first.

    Raises NoFitError if fewer than two sizes were measured, or no law predicts the measurements.
    """
    scales = _sorted(scales)
    sizes = len({scale.n for scale in scales})
    if sizes < 2:
        raise NoFitError(Refused.ONE_SIZE)
    found = []
    for law in laws_for(strong=strong):
        if sizes < law.least_sizes:
            continue
        fit = fit_law(law, scales, strong=strong)
        log_density, errors = _foretold(law, scales, strong=strong)
        found.append((fit, log_density, max(errors, default=nan)))
    best = max(density for _, density, _ in found)
    if best == -inf:
        raise NoFitError(Refused.NO_LAW_FITS)
    part = SHARED_AFTER_ONE if sizes == 3 else SHARED_WEIGHT
    weights = shared([exp(density - best) for _, density, _ in found], part)
    weighed = [Weighed(fit, weight, error) for (fit, _, error), weight in zip(found, weights, strict=True)]
    return sorted(weighed, key=lambda item: -item.weight)


def shared(weights: Sequence[float], part: float) -> list[float]:
    """Returns weights that add up to 1, of which a part is the same for all."""
    return [(1 - part) * weight / sum(weights) + part / len(weights) for weight in weights]


def capped(weights: Sequence[float]) -> list[float]:
    """Returns weights that add up to 1, of which none of several is above 1 - SHARED_WEIGHT / 2."""
    most, largest = 1 - SHARED_WEIGHT / 2, max(weights)
    if len(weights) == 1 or largest <= most:
        return list(weights)
    others = (1 - most) / (1 - largest)
    return [most if weight == largest else weight * others for weight in weights]


def _foretold(law: Law, scales: Sequence[Scale], *, strong: bool) -> tuple[float, list[float]]:
    """Returns (log density of the sizes beyond the minimum for the law, relative errors at them)."""
    log_density, errors = 0.0, []
    for count in range(law.least_sizes, len(scales)):
        fit, new = fit_law(law, scales[:count], strong=strong), scales[count]
        expected = fit.step_time_s(new.n)
        if expected <= 0:
            return -inf, [inf]
        beyond = DISCREPANCY * log2(new.n / fit.largest)
        spread = sqrt(fit.error(new.n) ** 2 + beyond**2 + new.known_error**2)
        off = log(new.step_time_s / expected)
        log_density -= (off / spread) ** 2 / 2 + log(spread)
        errors.append(abs(new.step_time_s / expected - 1))
    return log_density, errors


def _sorted(scales: Sequence[Scale]) -> list[Scale]:
    for scale in scales:
        if not (scale.step_time_s > 0 and scale.n >= 1):
            raise NoFitError(Refused.NO_STEP_TIME, value=scale.step_time_s, limit=scale.n)
    return sorted(scales, key=lambda scale: scale.n)
