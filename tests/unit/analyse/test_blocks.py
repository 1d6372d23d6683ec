"""Comparisons within repeats: drift cancels, one-sided repeats are left out, intervals have nominal coverage."""

from __future__ import annotations

from math import isnan

import numpy as np
import pandas as pd
import pytest
from scalestudy.analyse.statistics.blocks import (
    difference_in_blocks,
    differences,
    ratio_in_blocks,
    shared_variance,
)
from scalestudy.analyse.statistics.intervals import Interval, ratio_on_logs
from scipy import stats

ABOVE = pd.Series({1: 2.0, 2: 2.3, 3: 1.9, 4: 2.2})
BELOW = pd.Series({1: 1.0, 2: 1.2, 3: 0.9, 4: 1.1})


def test_a_ratio_is_students_t_on_differences_of_logarithms() -> None:
    found = ratio_in_blocks(ABOVE, BELOW, planned=4, confidence=0.9)
    theirs = stats.ttest_rel(np.log(ABOVE), np.log(BELOW)).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((np.exp(theirs.low), np.exp(theirs.high)))
    assert found.value == pytest.approx(np.exp(np.log(ABOVE / BELOW).mean()))


def test_a_difference_is_students_t_within_repeats() -> None:
    found = difference_in_blocks(ABOVE, BELOW, planned=4, confidence=0.95)
    theirs = stats.ttest_rel(ABOVE, BELOW).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_the_order_of_launches_does_not_matter() -> None:
    turned = ratio_in_blocks(ABOVE[::-1], BELOW, planned=4, confidence=0.9)
    assert turned == ratio_in_blocks(ABOVE, BELOW, planned=4, confidence=0.9)


def test_a_repeat_that_lacks_a_side_is_left_out() -> None:
    whole = ratio_in_blocks(ABOVE[[1, 3, 4]], BELOW[[1, 3, 4]], planned=4, confidence=0.95)
    assert ratio_in_blocks(ABOVE, BELOW[[1, 3, 4]], planned=4, confidence=0.95) == whole
    assert ratio_in_blocks(ABOVE.mask(ABOVE.index == 2), BELOW, planned=4, confidence=0.95) == whole


def test_runs_without_any_spread_share_no_variance() -> None:
    constant = pd.Series([411.3] * 7, index=range(1, 8))
    assert isnan(shared_variance(constant, 2.0002 * constant, confidence=0.95).value)


def test_fewer_than_two_whole_repeats_have_no_interval() -> None:
    one = ratio_in_blocks(ABOVE, BELOW[[2]], planned=4, confidence=0.95)
    assert one.value == pytest.approx(2.3 / 1.2)
    assert isnan(one.low)
    apart = ratio_in_blocks(ABOVE[[1, 2]], BELOW[[3, 4]], planned=4, confidence=0.95)
    assert apart.value == pytest.approx(np.sqrt(2.0 * 2.3 / (0.9 * 1.1)))
    assert isnan(apart.low)
    assert isnan(ratio_in_blocks(ABOVE[[]], BELOW, planned=4, confidence=0.95).value)


def test_repeats_from_the_reserve_do_not_decide_on_the_spread() -> None:
    within = differences(np.log(ABOVE), np.log(BELOW), planned=2)
    assert within.freedom == 1
    assert within.mean == pytest.approx(np.log(ABOVE / BELOW).mean())


def test_a_time_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="a positive quantity has a value of 0"):
        ratio_in_blocks(ABOVE * 0, BELOW, planned=4, confidence=0.95)


def blocks(random: np.random.Generator, *, count: int, shared: float, own: float) -> tuple[pd.Series, pd.Series]:
    """Step times of two points with a true ratio of 2, with a spread that a repeat shares and one of each
    launch."""
    host = random.normal(0, shared, count)
    logs = [host + random.normal(0, own, count) for _ in range(2)]
    index = range(1, count + 1)
    return pd.Series(2 * np.exp(logs[0]), index=index), pd.Series(np.exp(logs[1]), index=index)


@pytest.mark.parametrize("shared", [0.0, 0.05])
def test_limits_hold_the_truth_as_often_as_they_say(shared: float) -> None:
    random = np.random.default_rng(20)
    drawn = [blocks(random, count=5, shared=shared, own=0.01) for _ in range(2000)]
    found = [ratio_in_blocks(*pair, planned=5, confidence=0.95) for pair in drawn]
    assert 0.94 <= np.mean([one.low <= 2 <= one.high for one in found]) <= 0.96


def test_drift_that_a_repeat_shares_cancels() -> None:
    """Shared effects of 5 %, runs of 1 %, five repeats."""
    random = np.random.default_rng(21)
    drawn = [blocks(random, count=5, shared=0.05, own=0.01) for _ in range(400)]

    def half_width(found: Interval) -> float:
        return float(np.log(found.high / found.low) / 2)

    within = np.mean([half_width(ratio_in_blocks(*pair, planned=5, confidence=0.95)) for pair in drawn])
    apart = np.mean([half_width(ratio_on_logs(*map(np.asarray, pair), confidence=0.95)) for pair in drawn])
    assert within == pytest.approx(0.016, abs=0.001)
    assert apart > 4 * within


@pytest.mark.parametrize(("shared", "truth"), [(0.0, 0.0), (0.02, 0.8)])
def test_the_shared_part_of_the_variance_has_its_limits(shared: float, truth: float) -> None:
    random = np.random.default_rng(22)
    drawn = [blocks(random, count=6, shared=shared, own=0.01) for _ in range(2000)]
    found = [shared_variance(*pair, confidence=0.95) for pair in drawn]
    assert np.median([one.value for one in found]) == pytest.approx(truth, abs=0.06)
    assert 0.94 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.96


def test_two_repeats_do_not_tell_what_they_share() -> None:
    assert isnan(shared_variance(ABOVE[[1, 2]], BELOW, confidence=0.95).value)
