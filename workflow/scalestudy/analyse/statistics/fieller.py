"""The ratio of two means with Fieller's interval, which has no upper limit if the denominator's mean may be 0."""

from __future__ import annotations

from math import inf, isnan, nan, sqrt

import numpy as np
from scipy.special import stdtrit

from scalestudy.analyse.statistics.intervals import NOTHING, Interval


def ratio_of_means(above: np.ndarray, below: np.ndarray, *, confidence: float) -> Interval:
    """Returns mean(above) / mean(below) of pairs, shape (n,) each; both true means are at least 0.

    The limits are the ratios r of at least 0 for which the mean of above - r below does not differ from 0 by
    Student's t with n - 1 degrees of freedom. `high` is inf if the mean of `below` does not differ from 0; the
    value is inf if that mean is not above 0. Without a second pair there are no limits.

    A mean of `below` that is less than 0 counts as 0: no ratio can explain it. This makes the limits wider.
    Source: Fieller (1954), Journal of the Royal Statistical Society B 16, 175.
    """
    count = len(above)
    if count == 0:
        return NOTHING
    a, b = float(np.mean(above)), float(np.mean(below))
    value = a / b if b > 0 else inf
    if count < 2:
        return Interval(value)
    (v_aa, v_ab), (_, v_bb) = np.cov(above, below) / count
    t = float(stdtrit(count - 1, 0.5 + confidence / 2))
    low, high = _limits(a, max(b, 0.0), t**2 * v_aa, t**2 * v_ab, t**2 * v_bb)
    return Interval(value, nan if isnan(low) else min(low, value), high)


def _limits(a: float, b: float, w_aa: float, w_ab: float, w_bb: float) -> tuple[float, float]:
    """Returns where (a - r b)^2 <= w_aa - 2 r w_ab + r^2 w_bb, for r >= 0: p r^2 - 2 q r + s <= 0."""
    p, q, s = b**2 - w_bb, a * b - w_ab, a**2 - w_aa
    root = sqrt(max(0.0, q**2 - p * s))
    if p > 0:  # between the roots
        return max(0.0, (q - root) / p), max(0.0, (q + root) / p)
    if s <= 0 or q**2 < p * s:  # 0 is at least as good as any other ratio
        return 0.0, inf
    # From the positive root on; written so that it is valid for p = 0 too.
    return s / (q + root) if q + root > 0 else inf, inf
