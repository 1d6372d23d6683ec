"""The slope of a line through points with outliers."""

from math import nan, sqrt

import numpy as np
from scipy.special import ndtri

from scalestudy.analyse.statistics.intervals import Interval


def theil_sen(x: np.ndarray, y: np.ndarray, *, confidence: float) -> Interval:
    """Returns the Theil-Sen slope of y over x, the median over pairs of points, and Sen's limits; nan without a
    pair.

    Equal to scipy.stats.theilslopes, whose import takes longer than the slopes of a hundred runs. Source: Sen
    (1968), J. American Statistical Association 63, equation 2.6.
    """
    dx, dy = x[:, None] - x, y[:, None] - y
    slopes = np.sort(dy[dx > 0] / dx[dx > 0])
    count, points = len(slopes), len(y)
    tied = sum(_pairs(times) for values in (x, y) for times in np.unique(values, return_counts=True)[1])
    spread = -float(ndtri((1 - confidence) / 2)) * sqrt(max(0.0, (_pairs(points) - tied) / 18))
    if not count:
        return Interval(nan)
    upper = min(round((count + spread) / 2), count - 1)
    lower = max(round((count - spread) / 2) - 1, 0)
    return Interval(float(np.median(slopes)), float(slopes[lower]), float(slopes[upper]))


def _pairs(times: int) -> int:
    return int(times) * (int(times) - 1) * (2 * int(times) + 5)
