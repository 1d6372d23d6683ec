"""Interval of a speedup without normality: resamples blocks of runs, then times in each run."""

from collections.abc import Sequence

import numpy as np

from scalestudy.analyse.statistics.intervals import NOTHING, Interval

FEWEST_BLOCKS = 8  # below, resamples consist of few distinct blocks and the intervals are too narrow
DRAWS = 2000

Times = Sequence[float]
"""Step times in seconds of equally long pieces of one run."""


def bootstrap_ratio(
    above: Sequence[Times], below: Sequence[Times], *, confidence: float, seed: int = 0
) -> Interval:
    """Returns the ratio of geometric means within blocks, with a studentised hierarchical bootstrap interval.

    above[i] and below[i] are the runs of block i. 1. The same number of blocks, drawn with replacement; 2. in both
    runs of each the same number of times, drawn with replacement, and their mean; 3. the mean of the differences
    of logarithms, minus the observed one, divided by its own standard error; 4. the quantiles of this, times the
    observed standard error, around the observed mean. Studentised, because plain nominal 95 % percentiles cover 91
    % with eight runs. Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application", sections 3.8
    and 5.2; for the levels Kalibera & Jones (2013), ISMM. NOTHING with fewer than FEWEST_BLOCKS.
    """
    if len(above) < FEWEST_BLOCKS:
        return NOTHING
    random = np.random.default_rng(seed)
    observed = np.array([np.log(np.mean(a) / np.mean(b)) for a, b in zip(above, below, strict=True)])
    theta, error = observed.mean(), _error(observed[None])[0]
    chosen = random.integers(len(observed), size=(DRAWS, len(observed)))
    drawn = _draw(above, chosen, random) - _draw(below, chosen, random)
    pivots = (drawn.mean(axis=1) - theta) / _error(drawn)
    low, high = np.quantile(pivots, [(1 + confidence) / 2, (1 - confidence) / 2])
    return Interval(*(float(np.exp(x)) for x in (theta, theta - low * error, theta - high * error)))


def _draw(launches: Sequence[Times], chosen: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Returns logarithms of the means of the chosen runs, each from resampled times: the shape of `chosen`."""
    drawn = np.empty(chosen.shape)
    for index, times in enumerate(launches):
        places = np.nonzero(chosen == index)
        values = np.asarray(times, dtype=float)
        again = random.integers(len(values), size=(len(places[0]), len(values)))
        drawn[places] = np.log(values[again].mean(axis=1))
    return drawn


def _error(logs: np.ndarray) -> np.ndarray:
    """Returns the standard error of the mean of each row."""
    error: np.ndarray = logs.std(axis=1, ddof=1) / np.sqrt(logs.shape[1])
    return error
