"""Closed forms, and published numbers that the intervals must reproduce."""

from __future__ import annotations

from math import exp, inf, isnan, log, sqrt

import numpy as np
import pandas as pd
import pytest
from scalestudy.analyse.forecast.batches import StepModel, step_model
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.point.scaling import karp_flatt, per_doubling_efficiency
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import Interval, difference, mean_on_logs, ratio_on_logs, shows
from scalestudy.measure.batch_means import mser5
from scalestudy.registry.codes import Refused, Shows
from scipy import stats

# DLPerf's five runs of ResNet-50 with AMP, in samples/s.
ONE_GPU = [802.4, 803.69, 802.9, 803.66, 793.9]
EIGHT_GPUS = [6173.05, 6135.08, 6160.56, 6154.66, 6130.69]
THIRTY_TWO_GPUS = [22978.13, 22053.98, 22551.16, 23049.75, 22364.13]


@pytest.mark.parametrize(("serial", "ranks"), [(0.0, 2), (0.1, 4), (0.5, 8), (1.0, 16)])
def test_karp_flatt_gives_back_amdahls_serial_fraction(serial: float, ranks: int) -> None:
    speedup = 1 / (serial + (1 - serial) / ranks)
    assert karp_flatt(speedup, ranks) == pytest.approx(serial, abs=1e-12)


def test_karp_flatt_of_the_published_strong_scaling_table() -> None:
    """ResNet-152 on V100s: .461 .548 .633 rising over 2, 4, 8 GPUs."""
    for ranks, fraction in ((2, 0.461), (4, 0.548), (8, 0.633)):
        speedup = 1 / (fraction + (1 - fraction) / ranks)
        assert karp_flatt(speedup, ranks) == pytest.approx(fraction)


def test_efficiencies() -> None:
    assert per_doubling_efficiency(8.0, 8) == 1.0
    assert per_doubling_efficiency(1.5, 2) == pytest.approx(0.75)
    assert per_doubling_efficiency(0.75**3 * 8, 8) == pytest.approx(0.75)
    assert isnan(per_doubling_efficiency(1.0, 1))
    assert isnan(karp_flatt(1.0, 1))


def test_welch_on_logs_reproduces_the_published_intervals() -> None:
    eight = ratio_on_logs(EIGHT_GPUS, ONE_GPU, confidence=0.95)
    assert eight.value == pytest.approx(7.676, abs=0.001)
    assert sqrt(eight.high / eight.low) - 1 == pytest.approx(0.0065, abs=0.0002)
    wide = ratio_on_logs(THIRTY_TWO_GPUS, ONE_GPU, confidence=0.95)
    assert (wide.value, wide.low, wide.high) == pytest.approx((28.20, 27.57, 28.85), abs=0.01)


def test_welch_agrees_with_scipy() -> None:
    a, b = np.array([2.0, 2.1, 1.9]), np.array([1.0, 1.05, 0.9, 1.1])
    ours = difference(a, b, confidence=0.9)
    theirs = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_mean_on_logs_is_students_interval() -> None:
    values = [1.0, 1.1, 1.2]
    logs = np.log(values)
    half = stats.t.ppf(0.975, 2) * logs.std(ddof=1) / sqrt(3)
    ours = mean_on_logs(values, confidence=0.95)
    assert (ours.value, ours.low, ours.high) == pytest.approx(
        (exp(logs.mean()), exp(logs.mean() - half), exp(logs.mean() + half))
    )


def test_a_ratio_and_its_inverse_carry_the_same_interval() -> None:
    forth = ratio_on_logs(EIGHT_GPUS, ONE_GPU, confidence=0.95)
    back = ratio_on_logs(ONE_GPU, EIGHT_GPUS, confidence=0.95).inverse()
    assert (forth.value, forth.low, forth.high) == pytest.approx((back.value, back.low, back.high))


def test_one_launch_has_no_interval_and_none_has_no_value() -> None:
    one = ratio_on_logs([2.0], [1.0, 1.1], confidence=0.95)
    assert one.value == pytest.approx(2 / sqrt(1.1))
    assert isnan(one.low)
    assert isnan(one.high)
    assert isnan(mean_on_logs([], confidence=0.95).value)
    assert isnan(ratio_on_logs([], [1.0], confidence=0.95).value)


def test_zero_variance_gives_an_interval_of_no_width() -> None:
    assert ratio_on_logs([2.0, 2.0], [1.0, 1.0], confidence=0.95) == Interval(2.0, 2.0, 2.0)


def test_values_that_differ_by_rounding_alone_have_no_spread() -> None:
    """The mean of equal floats need not be one of them, and a constant ratio is not a constant float."""
    generator = np.random.default_rng(3)
    for count in (2, 3, 7, 10):
        for _ in range(50):
            value, ratio, *drift = generator.uniform(1e-3, 1e4, 2 + count)
            constant = mean_on_logs([value] * count, confidence=0.95)
            assert constant.low == constant.value == constant.high == pytest.approx(value)
            apart = ratio_on_logs([value * ratio] * count, [value] * count, confidence=0.95)
            assert apart.low == apart.value == apart.high == pytest.approx(ratio)
            below = pd.Series(drift, index=range(1, count + 1))
            within = ratio_in_blocks(below * ratio, below, planned=count, confidence=0.95)
            assert within.low == within.value == within.high == pytest.approx(ratio)
    nanosecond = mean_on_logs([100.0, 100.0 + 1e-9], confidence=0.95)
    assert nanosecond.low < nanosecond.value < nanosecond.high, "the resolution of a clock is a spread"


def test_a_side_without_spread_counts_as_exact() -> None:
    found = ratio_on_logs(EIGHT_GPUS, [411.3] * 7, confidence=0.95)
    other = mean_on_logs(EIGHT_GPUS, confidence=0.95).scaled(1 / 411.3)
    assert (found.value, found.low, found.high) == pytest.approx((other.value, other.low, other.high))


def test_limits_beyond_the_range_of_floats_are_0_and_infinite() -> None:
    found = ratio_on_logs([1.0, 1.2], [1.0, 1.1], confidence=0.999999)
    assert (found.low, found.high) == (0, inf)
    assert found.relative_half_width == inf


def test_a_limit_that_rounding_puts_beyond_a_number_is_at_it() -> None:
    above, below = 1 + 3e-16, 1 - 3e-16
    assert not Interval(above, above, above).leaves_out(1)
    words = {"than": 1, "below": Shows.SLOWER, "above": Shows.FASTER}
    assert shows(Interval(below, below, below), **words) == Shows.NO_DIFFERENCE
    assert shows(Interval(1.01, 1.00001, 1.02), **words) == Shows.FASTER


def test_a_time_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="a positive quantity has a value of 0"):
        mean_on_logs([1.0, 0.0], confidence=0.95)


def test_intervals_cover_at_their_level() -> None:
    """3 runs against 3, lognormal with different spreads: a nominal 95 % interval covers 94 to 97 %."""
    generator = np.random.default_rng(1)
    studies, covered = 4000, 0
    for _ in range(studies):
        base = np.exp(generator.normal(0, 0.01, 3))
        scaled = np.exp(generator.normal(log(1.5), 0.02, 3))
        interval = ratio_on_logs(scaled, base, confidence=0.95)
        covered += interval.low <= 1.5 <= interval.high
    assert 0.94 <= covered / studies <= 0.97


def test_mser5_drops_a_warm_up_and_nothing_else() -> None:
    generator = np.random.default_rng(0)
    steady = generator.normal(1.0, 0.02, 200)
    warm = np.concatenate([np.linspace(5, 1, 30), steady])
    assert 20 <= mser5(warm) <= 45
    assert mser5(np.full(100, 2.0)) == 0
    assert mser5(np.array([9.0, 1, 1, 1, 1])) == 0, "too short to judge"


def alone(batches: list[int], step_times_s: list[float]) -> pd.DataFrame:
    """Rows of one process at these batches."""
    return pd.DataFrame({"batch_per_rank": batches, "step_time_s": step_times_s})


def test_step_model_and_its_inverse_formulas() -> None:
    model = step_model(alone([16, 32], [0.002, 0.003]))
    assert model.fixed_s == pytest.approx(0.001)
    assert model.step_time_s(64) == pytest.approx(0.005)
    model = StepModel(fixed_s=0.001, per_sample_s=1e-5)
    for strong in (False, True):
        batch = model.batch_for(0.8, 0.01, ranks=4, strong=strong)
        assert model.efficiency(batch, 0.01, ranks=4, strong=strong) == pytest.approx(0.8)


def test_step_model_refuses_with_a_reason() -> None:
    with pytest.raises(NoFitError, match=Refused.ONE_BATCH):
        step_model(alone([16, 16], [1.0, 1.0]))
    with pytest.raises(NoFitError, match=Refused.STEP_DOES_NOT_GROW):
        step_model(alone([16, 32], [1.0, 0.9]))


def test_the_seeds_batch_4096_row_follows_from_its_overhead() -> None:
    """MLP on 2 V100: 99.77 -> 114.24 ms at equal batch per rank is 87 % and 1.75x."""
    overhead_s = (114.24 - 99.77) * 1e-3
    model = StepModel(fixed_s=0.0, per_sample_s=99.77e-3 / 4096)
    assert model.efficiency(4096, overhead_s, ranks=2, strong=False) == pytest.approx(0.873, abs=1e-3)
    assert overhead_s / 114.24e-3 == pytest.approx(0.127, abs=1e-3)
