"""When to stop, and that stopping early leaves intervals honest: counted over thousands of simulated studies."""

from __future__ import annotations

import re
from math import inf, sqrt

import numpy as np
import pandas as pd
import pytest
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import Sample, mean, mean_on_logs
from scalestudy.measure.batch_means import autocorrelation_time, batch_means
from scalestudy.measure.stopping import StepRule, launches_needed, probe_looks, rounds_suffice
from scalestudy.study.looks import level_of_a_look
from simulated import FIXED_LAUNCHES, PUBLISHED, Truth, configuration, fixed_launch, launch, steps

TARGET = 0.01
RULE = StepRule(half_width=0.015, min_warmup_steps=10, max_warmup_steps=50, min_steps=50, max_steps=200)


def test_looks_grow_from_the_least_to_the_most() -> None:
    assert RULE.looks() == [50, 71, 101, 143, 200]


def test_a_quiet_launch_stops_at_the_first_look_and_says_so() -> None:
    times = steps(Truth(launch_cv=0, step_cv=0.002, hiccups=0), 90, np.random.default_rng(1))
    look = RULE.look(times)
    assert look.enough
    assert look.half_width < 0.01
    assert re.fullmatch(r"goal reached: step time known to ±0\.\d\d % \(goal ±\d\.\d\d %\)", look.reason)
    assert 10 <= look.warmup_steps <= 50


def test_a_noisy_launch_goes_on_until_its_budget_and_says_so() -> None:
    times = steps(Truth(launch_cv=0, step_cv=0.3), 260, np.random.default_rng(1))
    assert not RULE.look(times[:100]).enough
    look = RULE.look(times)
    assert look.enough
    assert look.reason.startswith("stopped at the limit of 200 steady steps; step time known to ±")


def test_too_few_steps_decide_nothing() -> None:
    look = RULE.look(np.ones(55))
    assert not look.enough
    assert look.reason == "45 of at least 50 steady steps"


def test_steps_without_any_spread_are_enough() -> None:
    """A clock that is too coarse to show a difference does not prolong a run indefinitely."""
    look = RULE.look(np.ones(60))
    assert look.enough
    assert look.half_width == 0


def test_warmup_is_bounded_while_a_launch_decides() -> None:
    falling = np.concatenate([np.linspace(5, 1, 120), np.ones(100)])
    assert RULE.warmup(falling) == 50
    assert RULE.warmup(np.ones(100)) == 10


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_autocorrelation_time_of_a_known_process(correlation: float) -> None:
    """(1 + r) / (1 - r) for an AR(1) process."""
    truth = Truth(launch_cv=0, step_cv=0.01, correlation=correlation, hiccups=0)
    found = autocorrelation_time(steps(truth, 20_200, np.random.default_rng(3))[200:])
    assert found == pytest.approx((1 + correlation) / (1 - correlation), rel=0.15)


def test_batches_are_long_against_the_correlation() -> None:
    truth = Truth(launch_cv=0, correlation=0.8, hiccups=0)
    found = batch_means(steps(truth, 2200, np.random.default_rng(3))[200:], confidence=0.95)
    assert found.batch_steps >= 10 * 5
    assert found.batches >= 5
    assert batch_means(np.ones(5), confidence=0.95).half_width == inf


def test_intervals_of_batch_means_cover_correlated_steps() -> None:
    random = np.random.default_rng(11)
    truth = Truth(launch_cv=0, step_cv=0.02, correlation=0.5, hiccups=0)
    hits = 0
    for _ in range(1000):
        found = batch_means(steps(truth, 400, random)[100:], confidence=0.95)
        hits += abs(found.mean - 1) <= found.half_width * found.mean
    assert 0.93 <= hits / 1000 <= 0.975


def test_launches_are_added_by_the_spread_of_the_first() -> None:
    factor = 4.302653  # Student's t, 97.5 %, two degrees of freedom
    launches, width = launches_needed([1.0, 1.0, 1.0], half_width=0.01, confidence=0.95, most=5)
    assert (launches, width) == (3, 0)
    spread = np.std(np.log([1.0, 1.004, 0.996]), ddof=1)
    launches, width = launches_needed([1.0, 1.004, 0.996], half_width=0.01, confidence=0.95, most=9)
    assert width == pytest.approx(factor * spread / sqrt(3), rel=1e-6)
    assert launches == np.ceil((factor * spread / 0.01) ** 2) == 3
    assert launches_needed([1.0, 1.01, 0.99], half_width=0.01, confidence=0.95, most=30)[0] == 19
    assert launches_needed([1.0, 1.1, 0.9], half_width=0.01, confidence=0.95, most=5)[0] == 5
    assert launches_needed([1.0], half_width=0.01, confidence=0.95, most=5) == (5, inf)


@pytest.fixture(scope="module")
def studies() -> list[tuple[list[float], list[float]]]:
    """2 000 studies of a baseline and a distributed point: the step times of each's runs.

    Spread between runs as published, on 1 GPU for the baseline and on 8 or 32 for the other.
    """
    random = np.random.default_rng(2026)
    made = []
    for number in range(2000):
        wide = PUBLISHED["8 GPUs" if number % 2 else "32 GPUs"]
        base = _launches(_truth(PUBLISHED["1 GPU"], random), random)
        made.append((base, _launches(_truth(wide, random), random)))
    return made


def _launches(truth: Truth, random: np.random.Generator) -> list[float]:
    return configuration(lambda: launch(truth, RULE, random), half_width=TARGET, first=3, most=5)[0]


def _truth(launch_cv: tuple[float, float], random: np.random.Generator) -> Truth:
    """Spread of runs log-uniform in a range, of steps 0.5-3 %, correlation 0-0.5."""
    low, high = np.log(launch_cv)
    return Truth(
        launch_cv=float(np.exp(random.uniform(low, high))),
        step_cv=float(np.exp(random.uniform(np.log(0.005), np.log(0.03)))),
        correlation=float(random.uniform(0, 0.5)),
    )


def by_repeat(launches: list[float]) -> pd.Series:
    return pd.Series(launches, index=range(1, len(launches) + 1))


@pytest.mark.slow
def test_a_speedup_is_covered_as_often_as_it_says(studies: list) -> None:
    """The bar: 94-96 % at a nominal 95 %, with early stopping of steps and runs."""
    hits = 0
    for base, mine in studies:
        found = ratio_in_blocks(*(by_repeat(side) for side in (base, mine)), planned=3, confidence=0.95)
        hits += found.low <= 1 <= found.high
    assert 0.94 <= hits / len(studies) <= 0.96, f"{hits / len(studies):.2%}"


@pytest.mark.slow
def test_a_step_time_is_covered_as_often_as_it_says(studies: list) -> None:
    hits = 0
    for pair in studies:
        for launches in pair:
            found = mean_on_logs(Sample(launches, launches[:3]), confidence=0.95)
            hits += found.low <= 1 <= found.high
    assert 0.94 <= hits / (2 * len(studies)) <= 0.96, f"{hits / (2 * len(studies)):.2%}"


@pytest.mark.slow
def test_the_spread_of_all_launches_would_cover_less(studies: list) -> None:
    """Why intervals keep the spread that decided: with that of all of them they are too narrow."""
    narrow, kept = 0, 0
    for _, mine in studies:
        if len(mine) == 3:
            continue
        for sample, count in ((Sample(mine), "narrow"), (Sample(mine, mine[:3]), "kept")):
            found = mean_on_logs(sample, confidence=0.95)
            hit = found.low <= 1 <= found.high
            narrow, kept = (narrow + hit, kept) if count == "narrow" else (narrow, kept + hit)
    assert narrow < kept


@pytest.mark.slow
def test_early_stopping_halves_the_device_time() -> None:
    """Steps made until the step time is known to +-1 %, against runs of 50 + 200 steps, as many as that takes.

    Both start with 5 runs and add as many as their spread requires. Start-up of runs is not counted.
    """
    random = np.random.default_rng(2026)
    until = {"half_width": TARGET, "first": FIXED_LAUNCHES, "most": 300}
    ratios = []
    for spread in PUBLISHED.values():
        made = np.zeros(2)
        for _ in range(150):
            truth = _truth(spread, random)
            for index, make in enumerate((lambda t: launch(t, RULE, random), lambda t: fixed_launch(t, random))):
                made[index] += configuration(lambda make=make, truth=truth: make(truth), **until)[1]
        ratios.append(made[0] / made[1])
    assert np.mean(ratios) <= 0.5, ratios


def test_rounds_of_probes_end_where_the_difference_is_known() -> None:
    apart = np.array([0.0, 0.0001, -0.0001, 0.0])
    with_s, without_s = 0.100 + apart, np.full(4, 0.090)
    for rounds, enough in ((1, False), (2, False), (3, True), (4, True)):
        assert rounds_suffice(with_s[:rounds], without_s[:rounds], half_width=0.01, most=8) is enough
    assert not rounds_suffice(with_s + 20 * apart, without_s, half_width=0.01, most=8)
    # A drift that both share does not count as noise.
    assert rounds_suffice(with_s + 20 * apart, without_s + 20 * apart, half_width=0.01, most=8)
    assert rounds_suffice(with_s + 20 * apart, without_s, half_width=0.01, most=4)  # no more are made


@pytest.mark.parametrize("spread", [0.001, 0.002, 0.004, 0.01])
@pytest.mark.parametrize("most", [4, 8])
def test_probes_that_end_early_keep_the_level_of_their_interval(most: int, spread: float) -> None:
    """Over runs: intervals include a difference of 10 ms in steps of 100 ms at their nominal rate."""
    random, launches, missed = np.random.default_rng(11), 4000, 0
    for _ in range(launches):
        differences = random.normal(0.010, 0.100 * spread, most)
        first_s, second_s = 0.100 + differences, np.full(most, 0.100)
        rounds = next(
            n for n in range(1, most + 1) if rounds_suffice(first_s[:n], second_s[:n], half_width=0.01, most=most)
        )
        interval = mean(differences[:rounds], confidence=level_of_a_look(0.95, probe_looks(most)))
        missed += not interval.low <= 0.010 <= interval.high
    assert missed / launches < 0.055
