"""The word that the interval of a speedup supports."""

from __future__ import annotations

import pytest
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.study.config.report import Report

REPORT = Report(target_efficiency=0.75**0.5, target_margin=0.02)
"""On 4 ranks, two doublings, the target is 0.75."""


@pytest.mark.parametrize(
    ("speedup", "verdict"),
    [
        (Interval(3.5, 3.1, 3.9), "healthy"),
        (Interval(3.5, 3.0, 4.1), "healthy"),
        (Interval(2.0, 1.2, 2.9), "poor"),
        (Interval(1.0, 0.9, 1.1), "poor"),
        (Interval(0.9, 0.8, 0.99), "negative_scaling"),
        (Interval(3.1, 2.9, 3.3), "undecided"),
        (Interval(3.0, 2.95, 3.05), "at_target"),
        (Interval(3.0, 2.93, 3.05), "undecided"),
        (Interval(3.0, 2.95, 3.07), "undecided"),
        (Interval(3.5), "healthy"),
        (Interval(2.9), "poor"),
        (Interval(4.1), "undecided"),
    ],
)
def test_a_verdict_is_what_the_whole_interval_supports(speedup: Interval, verdict: str) -> None:
    assert verdict_of(speedup, ranks=4, report=REPORT) == verdict


@pytest.mark.parametrize(
    ("ranks", "target", "speedup", "verdict"),
    [
        (2, 0.4, Interval(1.0, 0.9, 1.1), "undecided"),
        (2, 0.4, Interval(1.2, 1.1, 1.3), "healthy"),
        (2, 0.4, Interval(0.9, 0.85, 0.95), "negative_scaling"),
        (2, 0.4, Interval(1.0), "healthy"),
        (8, 0.4, Interval(1.0, 0.9, 1.1), "undecided"),
        (2, 0.5, Interval(1.0, 0.99, 1.01), "undecided"),
        (2, 0.5, Interval(1.01, 1.005, 1.015), "healthy"),
        (2, 0.505, Interval(1.005, 1.002, 1.02), "at_target"),
        (2, 0.505, Interval(1.005, 0.995, 1.02), "undecided"),
    ],
)
def test_ranks_that_may_be_no_faster_than_one_process_are_not_healthy(
    ranks: int, target: float, speedup: Interval, verdict: str
) -> None:
    assert verdict_of(speedup, ranks=ranks, report=Report(target_efficiency=target)) == verdict


@pytest.mark.parametrize("noise", [-1e-15, 0.0, 1e-15])
@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [(0.75, 1.5, "healthy"), (0.5, 1.0, "healthy"), (0.75, 1.0, "poor"), (1.0, 2.0, "healthy")],
)
def test_rounding_of_floats_does_not_change_a_verdict(
    target: float, value: float, verdict: str, noise: float
) -> None:
    near = value * (1 + noise)
    assert verdict_of(Interval(near), ranks=2, report=Report(target_efficiency=target)) == verdict
    margin = Report(target_efficiency=0.75, target_margin=0.1)
    assert verdict_of(Interval(1.5, 1.35 * (1 + noise), 1.65 * (1 + noise)), ranks=2, report=margin) == "at_target"
    alike = Interval(near, near, near)
    sure = "undecided" if target == 0.5 else verdict  # an interval at 1 does not show that two ranks are faster
    assert verdict_of(alike, ranks=2, report=Report(target_efficiency=target)) == sure


def test_without_a_margin_nothing_is_at_the_target() -> None:
    narrow = Interval(1.5, 1.4999, 1.5001)
    assert verdict_of(narrow, ranks=2, report=Report(target_margin=0)) == "undecided"


@pytest.mark.parametrize(
    ("ranks", "speedup", "verdict"),
    [
        (2, Interval(1.6, 1.51, 1.7), "healthy"),
        (4, Interval(2.4, 2.26, 2.5), "healthy"),
        (4, Interval(2.304, 2.211, 2.400), "undecided"),
        (4, Interval(2.1, 2.0, 2.24), "poor"),
        (8, Interval(3.5, 3.4, 3.6), "healthy"),
    ],
)
def test_the_target_is_per_doubling_of_ranks(ranks: int, speedup: Interval, verdict: str) -> None:
    assert verdict_of(speedup, ranks=ranks, report=Report(target_efficiency=0.75)) == verdict
