"""A speedup's interval without assuming normal logarithms: launches drawn anew, then blocks inside each."""

from collections.abc import Sequence

import numpy as np

from scalestudy.analyse.statistics.intervals import NOTHING, Interval

FEWEST_LAUNCHES = 8  # of each kind; below, a resample repeats the same few and its intervals are too narrow
DRAWS = 2000

Launches = Sequence[Sequence[float]]
"""Step times of the blocks of each launch, seconds; blocks of a launch weigh alike."""


def bootstrap_ratio(above: Launches, below: Launches, *, confidence: float, seed: int = 0) -> Interval:
    """Ratio of geometric means over launches, with a studentised hierarchical bootstrap interval on logarithms.

    1. as many launches as there are, drawn with replacement; 2. in each as many blocks, drawn with replacement,
    and the mean of them; 3. difference of the means of logarithms, less the observed one, over its own standard
    error; 4. the quantiles of that, times the observed standard error, around the observed difference.
    Studentised, because plain percentiles cover 91 % where they say 95 % at eight launches.
    Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application", sections 3.8 and 5.2; for the
    levels Kalibera & Jones (2013), ISMM. NOTHING where either has fewer than FEWEST_LAUNCHES.
    """
    if min(len(above), len(below)) < FEWEST_LAUNCHES:
        return NOTHING
    random = np.random.default_rng(seed)
    observed_a, observed_b = (np.log([np.mean(blocks) for blocks in launches]) for launches in (above, below))
    theta = observed_a.mean() - observed_b.mean()
    error = np.sqrt(_squared_error(observed_a[None]) + _squared_error(observed_b[None]))[0]
    drawn_a, drawn_b = _draw(above, random), _draw(below, random)
    errors = np.sqrt(_squared_error(drawn_a) + _squared_error(drawn_b))
    pivots = (drawn_a.mean(axis=1) - drawn_b.mean(axis=1) - theta) / errors
    low, high = np.quantile(pivots, [(1 + confidence) / 2, (1 - confidence) / 2])
    return Interval(*(float(np.exp(x)) for x in (theta, theta - low * error, theta - high * error)))


def _draw(launches: Launches, random: np.random.Generator) -> np.ndarray:
    """Logarithms of launch means, shape (DRAWS, launches)."""
    count = len(launches)
    chosen = random.integers(count, size=(DRAWS, count))
    drawn = np.empty((DRAWS, count))
    for index, blocks in enumerate(launches):
        places = np.nonzero(chosen == index)
        values = np.asarray(blocks, dtype=float)
        again = random.integers(len(values), size=(len(places[0]), len(values)))
        drawn[places] = np.log(values[again].mean(axis=1))
    return drawn


def _squared_error(logs: np.ndarray) -> np.ndarray:
    squared: np.ndarray = logs.var(axis=1, ddof=1) / logs.shape[1]
    return squared
