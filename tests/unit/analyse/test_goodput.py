"""What a batch is worth by the gradient noise scale."""

from __future__ import annotations

from math import inf, isnan, sqrt

import pytest
from scalestudy.analyse.forecast.goodput import (
    FORMULA_ERROR,
    efficiency_interval,
    goodput,
    statistical_efficiency,
)
from scalestudy.analyse.statistics.intervals import Interval, normal_quantile, product

NOISE = Interval(300.0, 200.0, inf)
LEVEL = 0.9
OFF = FORMULA_ERROR * normal_quantile(LEVEL)


def test_ends() -> None:
    assert statistical_efficiency(inf, 4096, 32) == 1
    assert statistical_efficiency(0, 4096, 32) == pytest.approx(32 / 4096)
    assert statistical_efficiency(300, 32, 32) == 1


def test_limits_follow_the_noise_scale_in_both_directions() -> None:
    larger = efficiency_interval(NOISE, 100, 50, confidence=LEVEL)
    assert larger == Interval(350 / 400, 250 / 300, 1).widened(OFF)
    smaller = efficiency_interval(NOISE, 50, 100, confidence=LEVEL)
    assert smaller == Interval(400 / 350, 1, 300 / 250).widened(OFF)
    assert efficiency_interval(NOISE, 50, 50, confidence=LEVEL) == Interval(1.0, 1.0, 1.0)


def test_the_formula_is_off_by_more_the_larger_the_batch() -> None:
    """With a noise scale that is known exactly its error is all that is left."""
    known = Interval(300.0, 300.0, 300.0)
    widths = [
        efficiency_interval(known, 50 * times, 50, confidence=LEVEL).relative_half_width for times in (1, 2, 4)
    ]
    assert widths == pytest.approx([0, OFF, sqrt(2) * OFF])
    sure = efficiency_interval(known, 100, 50, confidence=0.95).relative_half_width
    assert sure == pytest.approx(1.96 * FORMULA_ERROR, rel=1e-3)


def test_goodput_has_the_limits_of_what_it_is_made_of() -> None:
    found = goodput(Interval(1000.0, 900.0, 1100.0), NOISE, 100, 50, confidence=LEVEL)
    worth = efficiency_interval(NOISE, 100, 50, confidence=LEVEL)
    assert found == product(Interval(1000.0, 900.0, 1100.0), worth)
    assert found.value == pytest.approx(875)
    assert isnan(goodput(Interval(1000.0), NOISE, 100, 50, confidence=LEVEL).low)
