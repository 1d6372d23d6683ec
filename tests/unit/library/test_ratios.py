"""Speedups and efficiencies of the library, against scipy's t-tests, and what they refuse."""

from __future__ import annotations

from math import exp, inf, isnan, log, nan

import numpy as np
import pandas as pd
import pytest
import scalestudy as ss
from scipy import stats

ONE = [412.0, 409.5, 410.8, 411.9]
EIGHT = [2711.0, 2745.0, 2698.0, 2730.0]


def limits_of(test: object, confidence: float) -> tuple[float, float]:
    """The limits of a difference of logarithms, as a ratio."""
    found = test.confidence_interval(confidence)  # type: ignore[attr-defined]
    return exp(found.low), exp(found.high)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_is_that_of_a_t_test_on_logarithms(paired: bool, confidence: float) -> None:
    found = ss.speedup(ONE, EIGHT, quantity="throughput", paired=paired, confidence=confidence)
    logs = np.log(EIGHT), np.log(ONE)
    test = stats.ttest_rel(*logs) if paired else stats.ttest_ind(*logs, equal_var=False)
    assert (found.low, found.high) == pytest.approx(limits_of(test, confidence))
    assert found.value == pytest.approx(stats.gmean(EIGHT) / stats.gmean(ONE))
    assert (found.verdict, found.repeats) == ("faster", 4)
    assert found.method == ("t_within_repeats" if paired else "welch")


def test_sides_may_have_different_numbers_of_runs() -> None:
    found = ss.speedup(ONE[:2], EIGHT, quantity="throughput")
    test = stats.ttest_ind(np.log(EIGHT), np.log(ONE[:2]), equal_var=False)
    assert (found.low, found.high) == pytest.approx(limits_of(test, 0.95))
    assert found.repeats == 2


def test_step_times_and_throughputs_of_the_same_runs_agree() -> None:
    """Weak scaling: 64 samples per step on one device, 512 on eight."""
    times = [[64 / rate for rate in ONE], [512 / rate for rate in EIGHT]]
    by_time = ss.speedup(*times, quantity="step_time", samples_per_step=(64, 512), paired=True)
    by_rate = ss.speedup(ONE, EIGHT, quantity="throughput", paired=True)
    assert (by_time.value, by_time.low, by_time.high) == pytest.approx((by_rate.value, by_rate.low, by_rate.high))
    strong = ss.speedup([2.0, 2.1], [1.0, 1.05], quantity="step_time", samples_per_step=(256, 256), paired=True)
    assert strong.value == pytest.approx(2)


@pytest.mark.parametrize("kind", [tuple, np.array, pd.Series, iter])
def test_numbers_come_in_any_iterable(kind: type) -> None:
    found = ss.speedup(kind(ONE), kind(EIGHT), quantity="throughput")
    assert found == ss.speedup(ONE, EIGHT, quantity="throughput")


def test_verdicts_follow_from_the_interval() -> None:
    def verdict(baseline: list[float], scaled: list[float]) -> str:
        return ss.speedup(baseline, scaled, quantity="throughput").verdict

    assert verdict([100, 101, 99], [80, 81, 79]) == "slower"
    assert verdict([100, 101, 99], [99, 102, 100]) == "no_difference"
    assert verdict([100], [190, 191]) == verdict([100, 101], [190]) == "no_interval"


def test_values_without_spread_have_no_interval() -> None:
    for paired in (False, True):
        found = ss.speedup([100, 100, 100], [200, 200, 200], quantity="throughput", paired=paired)
        assert (found.value, found.verdict, found.method) == (pytest.approx(2), "no_interval", "none")
        assert isnan(found.low) and isnan(found.high) and not found.has_interval
        assert str(found) == "2.00"


def test_rounding_of_floats_is_no_spread() -> None:
    for one, two in ((411.3, 822.7), (0.1, 0.3), (1.1, 7.7)):
        for paired in (False, True):
            found = ss.speedup([one] * 7, [two] * 7, quantity="throughput", paired=paired)
            assert (found.has_interval, found.verdict, found.method) == (False, "no_interval", "none")
    exact = ss.speedup([1.1, 1.2, 1.3], [2.2, 2.4, 2.6], quantity="throughput", paired=True)
    assert (exact.has_interval, str(exact)) == (False, "2.00")


def test_limits_cover_the_spread_of_one_side_if_the_other_has_none() -> None:
    found = ss.speedup([411.3] * 7, EIGHT, quantity="throughput")
    test = stats.ttest_1samp(np.log(EIGHT), log(411.3))
    assert (found.low, found.high) == pytest.approx(
        tuple(limit / 411.3 for limit in (exp(x) for x in test.confidence_interval(0.95)))
    )
    assert found.method == "welch"


def test_very_wide_limits_are_printed_with_an_exponent() -> None:
    found = ss.speedup([1, 1.1], [1.0, 1.2], quantity="throughput", confidence=0.999999)
    assert (found.low, found.high, found.verdict) == (0, inf, "no_difference")
    assert str(found) == "1.04 [0, inf]"
    assert ss.efficiency(found, 2).verdict == "undecided"


def test_a_verdict_does_not_depend_on_rounding_of_floats() -> None:
    at_target = ss.speedup([100.0], [150.0], quantity="throughput")
    assert ss.efficiency(at_target, 2).verdict == ss.efficiency(1.5, 2).verdict == "healthy"
    equal = ss.speedup([100.0], [100.0], quantity="throughput")
    assert ss.efficiency(equal, 2).verdict == ss.efficiency(1.0, 2).verdict == "poor"


def test_efficiency_and_its_verdicts() -> None:
    found = ss.speedup(ONE, EIGHT, quantity="throughput")
    kept = ss.efficiency(found, devices=8)
    assert (kept.value, kept.low, kept.high) == pytest.approx((found.value / 8, found.low / 8, found.high / 8))
    assert kept.per_doubling == pytest.approx(found.value ** (1 / 3) / 2)
    assert kept.verdict == "healthy"
    assert ss.efficiency(found, devices=8, target=0.98).verdict == "poor"
    assert ss.efficiency(found, devices=32, baseline_devices=4).value == pytest.approx(found.value / 8)
    assert ss.efficiency(found, np.int64(8)) == ss.efficiency(found, 8.0) == kept
    assert type(ss.efficiency(found, np.float64(8)).devices) is int
    assert ss.efficiency(2.0, devices=10_001, baseline_devices=10_000).per_doubling == inf
    assert ss.efficiency(0.9, devices=2).verdict == "negative_scaling"
    assert ss.efficiency(2.1, devices=2).verdict == "undecided", "more than possible, without an interval"
    near = ss.speedup([100.0, 100.2], [150.0, 150.5], quantity="throughput")
    assert ss.efficiency(near, devices=2, margin=0.1).verdict == "at_target"


def test_text_is_rounded_by_the_interval() -> None:
    assert str(ss.speedup(ONE, EIGHT, quantity="throughput")) == "6.620 [6.544, 6.696]"


REFUSED = {
    "a negative value": (lambda: call(ONE, [1, -2]), "scaled[1]: -2; must be a finite number above 0"),
    "nan": (lambda: call([nan, 1], ONE), "baseline[0]: nan; must be a finite number above 0"),
    "inf": (lambda: call([1, inf], ONE), "baseline[1]: inf; "),
    "text": (lambda: call("412", ONE), "baseline: '412'; must be a list of numbers, one for each run"),
    "text in a list": (lambda: call(["412"], ONE), "baseline[0]: '412'; must be a finite number above 0"),
    "a truth value": (lambda: call([True], ONE), "baseline[0]: True; "),
    "a number": (lambda: call(412.0, ONE), "baseline: 412.0; must be a list of numbers, one for each run"),
    "nested lists": (lambda: call([[1, 2]], ONE), "baseline[0]: [1, 2]; "),
    "nothing": (lambda: call([], ONE), "baseline: no values; needs one for each run"),
    "None": (lambda: call(None, ONE), "baseline: None; "),
    "a huge integer": (lambda: call([10**400], ONE), "baseline[0]: 1000"),
    "pairs of other lengths": (
        lambda: call(ONE, EIGHT[:3], paired=True),
        "paired: baseline has 4 runs and scaled",
    ),
    "a confidence in per cent": (
        lambda: call(ONE, EIGHT, confidence=95),
        "confidence: 95; must be a number above 0.5 and below 1",
    ),
    "the lowest confidence": (
        lambda: call(ONE, EIGHT, confidence=0.5),
        "confidence: 0.5; must be a number above 0.5 and below 1",
    ),
    "ratios that are no floats": (
        lambda: call([1e-300, 1.1e-300], [1e300, 1.1e300]),
        "scaled: too far from baseline; their ratio must be",
    ),
    "ratios that are 0": (lambda: call([1e300], [1e-300]), "scaled: too far from baseline; their ratio must be"),
    "an array without a dimension": (lambda: call(np.array(5.0), ONE), "baseline: array(5.); must be a list of"),
    "another quantity": (lambda: call(ONE, EIGHT, quantity="time"), "quantity: 'time'; must be 'throughput' or"),
    "no batches": (lambda: call(ONE, EIGHT, quantity="step_time"), "samples_per_step: missing; "),
    "batches too many": (
        lambda: call(ONE, EIGHT, samples_per_step=(1, 1)),
        "samples_per_step: a throughput includes",
    ),
    "one batch": (
        lambda: call(ONE, EIGHT, quantity="step_time", samples_per_step=(64,)),
        "samples_per_step: 1 numbers; must be a pair of global batches, of the baseline and of the scaled runs",
    ),
    "a batch for both": (
        lambda: call(ONE, EIGHT, quantity="step_time", samples_per_step=64),
        "samples_per_step: 64; must be a pair of global batches, of the baseline and of the scaled runs, such as",
    ),
    "no batch": (
        lambda: call(ONE, EIGHT, quantity="step_time", samples_per_step=()),
        "samples_per_step: 0 numbers; must be a pair of global batches",
    ),
    "batches too far apart": (
        lambda: call(ONE, EIGHT, quantity="step_time", samples_per_step=(1e-300, 1e300)),
        "samples_per_step: (1e-300, 1e+300); their ratio must be",
    ),
    "no devices": (lambda: ss.efficiency(2.0, 0), "devices: 0; must be a whole number above 0"),
    "half a device": (lambda: ss.efficiency(2.0, 2.5), "devices: 2.5; must be a whole number above 0"),
    "more devices than exist": (lambda: ss.efficiency(2.0, 10**12), "devices: 1000000000000; must be at most"),
    "a truth value of numpy": (lambda: ss.efficiency(2.0, np.True_), "devices: np.True_; must be a whole number"),
    "as many devices": (
        lambda: ss.efficiency(2.0, 4, baseline_devices=4),
        "devices: 4; must be more than the 4 of",
    ),
    "a target above 1": (lambda: ss.efficiency(2.0, 4, target=75), "target: 75; must be a number above 0 and"),
    "a target of 0": (
        lambda: ss.efficiency(2.0, 4, target=0),
        "target: 0; must be a number above 0 and at most 1",
    ),
    "a negative speedup": (lambda: ss.efficiency(-2.0, 4), "speedup: -2.0; must be a finite number above 0, or"),
    "several speedups": (lambda: ss.efficiency([1.5, 3], 4), "speedup: [1.5, 3]; must be a finite number above 0"),
    "a margin of 1": (lambda: ss.efficiency(2.0, 4, margin=1), "margin: 1; must be a number at least 0 and"),
}


def call(baseline: object, scaled: object, **options: object) -> ss.Speedup:
    return ss.speedup(baseline, scaled, **({"quantity": "throughput"} | options))  # type: ignore[arg-type]


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arguments_are_refused_by_name(case: str) -> None:
    wrong, message = REFUSED[case]
    with pytest.raises(ss.UserError) as error:
        wrong()
    assert str(error.value).startswith(message)
    assert len(str(error.value)) < 150 and "\n" not in str(error.value)


def test_intervals_hold_what_they_say() -> None:
    """Of 600 speedups of three noisy runs each, about 90 % of the intervals at 90 % include the true one."""
    random = np.random.default_rng(5)
    held = 0
    for _ in range(600):
        one, two = 100 * np.exp(0.03 * random.standard_normal((2, 3)))
        found = ss.speedup(one, 1.8 * two, quantity="throughput", confidence=0.9)
        held += found.low < 1.8 < found.high
    assert 0.87 < held / 600 < 0.95
    assert log(found.high / found.low) > 0
