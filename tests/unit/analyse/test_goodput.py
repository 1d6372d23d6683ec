"""What a batch is worth by the gradient noise scale."""

from __future__ import annotations

from math import exp, hypot, inf, isnan, log

import pytest
from scalestudy.analyse.forecast.goodput import (
    FORMULA_ERROR,
    efficiency_interval,
    goodput,
    learning_rate_factor,
    samples_factor,
    statistical_efficiency,
    steps_factor,
    time_to_same_loss,
)
from scalestudy.analyse.statistics.intervals import Interval, product

NOISE = Interval(300.0, 200.0, inf)
OFF = Interval(1.0, exp(-FORMULA_ERROR), exp(FORMULA_ERROR))


@pytest.mark.parametrize("batch", [1, 30, 300, 9000])
def test_samples_are_steps_times_batch(batch: float) -> None:
    """(S / S_min - 1) (E / E_min - 1) = 1, and E_min = B_noise S_min (McCandlish et al., section 2.3)."""
    steps, samples = steps_factor(300, batch), samples_factor(300, batch)
    assert (steps - 1) * (samples - 1) == pytest.approx(1)
    assert steps * batch == pytest.approx(samples * 300)
    assert statistical_efficiency(300, batch, 30) == pytest.approx(samples_factor(300, 30) / samples)


def test_the_learning_rate_is_linear_below_the_noise_scale_and_constant_above() -> None:
    assert learning_rate_factor(1e6, 64, 32) == pytest.approx(2, rel=1e-3)
    assert learning_rate_factor(1, 64e3, 32e3) == pytest.approx(1, rel=1e-3)
    assert learning_rate_factor(inf, 64, 32) == 2


def test_ends() -> None:
    assert statistical_efficiency(inf, 4096, 32) == 1
    assert statistical_efficiency(0, 4096, 32) == pytest.approx(32 / 4096)
    assert statistical_efficiency(300, 32, 32) == 1
    assert samples_factor(0, 32) == inf
    assert samples_factor(inf, 32) == 1


def test_limits_follow_the_noise_scale_in_both_directions() -> None:
    larger = efficiency_interval(NOISE, 100, 50)
    assert larger == product(Interval(350 / 400, 250 / 300, 1), OFF)
    smaller = efficiency_interval(NOISE, 50, 100)
    assert smaller == product(Interval(400 / 350, 1, 300 / 250), OFF)
    assert efficiency_interval(NOISE, 50, 50) == Interval(1.0, 1.0, 1.0)


def test_the_formula_is_off_by_more_the_larger_the_batch() -> None:
    """With a noise scale that is known exactly its error is all that is left."""
    known = Interval(300.0, 300.0, 300.0)
    widths = [efficiency_interval(known, 50 * times, 50).relative_half_width for times in (1, 2, 4)]
    assert widths == pytest.approx([0, FORMULA_ERROR, 2 * FORMULA_ERROR])


def test_goodput_and_time_from_the_limits_of_what_they_are_made_of() -> None:
    found = goodput(Interval(1000.0, 900.0, 1100.0), NOISE, 100, 50)
    assert found == product(Interval(1000.0, 900.0, 1100.0), efficiency_interval(NOISE, 100, 50))
    assert found.value == pytest.approx(875)
    time = time_to_same_loss(Interval(60.0, 50.0, 70.0), Interval(1.6, 1.5, 1.7), NOISE, 100, 50)
    assert time.value == pytest.approx(60 / 1.6 / 0.875)
    parts = [log(70 / 60), log(1.6 / 1.5), log((350 / 400) / (250 / 300)), FORMULA_ERROR]
    assert time.high == pytest.approx(time.value * exp(hypot(*parts)))
    assert isnan(goodput(Interval(1000.0), NOISE, 100, 50).low)
