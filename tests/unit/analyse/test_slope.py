"""The slope of Theil and Sen equals scipy's, with ties and without, and is nan if there is no slope."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from scalestudy.analyse.statistics.slope import theil_sen
from scipy import stats


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("digits", [0, 1, 6])
def test_it_is_the_slope_and_the_limits_of_scipy(confidence: float, digits: int) -> None:
    random = np.random.default_rng(digits)
    for points in (2, 3, 8, 21, 60):
        x = np.sort(random.integers(0, 2 * points, points).astype(float))
        y = np.round(0.3 * x + random.normal(0, 2, points), digits)  # the fewer digits, the more ties
        if len(set(x)) < 2:
            continue
        known = stats.theilslopes(y, x, alpha=confidence)
        found = theil_sen(x, y, confidence=confidence)
        assert (found.value, found.low, found.high) == (known.slope, known.low_slope, known.high_slope)


def test_points_above_each_other_have_no_slope() -> None:
    assert isnan(theil_sen(np.ones(9), np.arange(9.0), confidence=0.95).value)
