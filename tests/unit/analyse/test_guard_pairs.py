"""Launches in turn: the order cancels a drift, and looking several times costs no more errors than are allowed."""

from __future__ import annotations

from math import isnan, log, nan

import numpy as np
import pytest
from scalestudy.analyse.guard.decide import ERROR, Check, decide, overall
from scalestudy.analyse.guard.limits import Limit
from scalestudy.analyse.guard.pairs import (
    Pair,
    after_first,
    change_in,
    is_disturbed,
    looks_at,
    spoiled_in,
    worsening,
)
from scalestudy.registry.codes import Guarded

LIMIT = Limit(quantity="step_time", change=0.03)
GUARDS = 200
LAUNCH, DRIFT = 0.015, 0.01
"""Standard deviations of the logarithm of a step time: of a run beside its neighbour, and of what the host
changes by from one run to the next. Launches on one GPU scatter by 0.1 to 0.5 %, on eight by 0.3 to 2 %."""


def test_the_order_is_abba_and_its_reverse() -> None:
    order = "".join("BA" if after_first(pair) else "AB" for pair in range(1, 9))
    assert order == "ABBABAABBAABABBA"


def test_a_drift_in_time_cancels() -> None:
    """A straight line in each two pairs, a parabola in each four."""
    for power, pairs in ((1, 2), (2, 4)):
        total = 0.0
        for pair in range(1, pairs + 1):
            first, second = (2 * pair - 1) ** power, (2 * pair) ** power
            total += (first - second) if after_first(pair) else (second - first)
        assert total == 0


@pytest.mark.parametrize(
    ("pairs", "looks"),
    [(2, (2,)), (4, (4,)), (6, (4, 6)), (12, (4, 8, 12)), (7, (4, 6, 7)), (30, (10, 20, 30))],
)
def test_looks_are_few_and_end_with_the_last_pair(pairs: int, looks: tuple[int, ...]) -> None:
    assert looks_at(pairs) == looks


def test_how_much_worse_a_pair_is() -> None:
    before = {"step_time_s": 0.1, "throughput_samples_per_s": 320.0, "peak_resident_gib": 1.0}
    before |= {"peak_allocated_gib": nan, "validation_accuracy": 0.9}
    after = before | {"step_time_s": 0.11, "throughput_samples_per_s": 300.0, "validation_accuracy": 0.88}
    assert worsening("step_time", before, after) == pytest.approx(log(1.1))
    assert worsening("throughput", before, after) == pytest.approx(-log(300 / 320))
    assert worsening("accuracy", before, after) == pytest.approx(0.02)
    assert worsening("peak_memory", before, after) == 0, "resident memory where no device has any"
    assert isnan(worsening("epoch_time", before, after))


def pair(number: int, worse: float, point: str = "p") -> Pair:
    return Pair(point=point, pair=number, first="before", before="b", after="a", worsening={"step_time": worse})


def test_a_pair_without_a_value_is_left_out() -> None:
    change = change_in([pair(1, 0.1), pair(2, nan), pair(3, 0.2), pair(1, 9.0, "q")], "p", "step_time")
    assert (change.value, change.runs, change.freedom) == (pytest.approx(0.15), 2, 1)


def guarded(change: float, limit: Limit, *, most: int = 12, seed: int) -> tuple[list[Guarded], float]:
    """(answers of 200 guards, mean number of pairs). The host drifts as a random walk over all runs."""
    random = np.random.default_rng(seed)
    answers, made = [], 0
    for _ in range(GUARDS):
        host = np.cumsum(random.normal(0, DRIFT, 2 * most))
        noise = host + random.normal(0, LAUNCH, 2 * most)
        pairs: list[Pair] = []
        for number in range(1, most + 1):
            first, second = noise[2 * number - 2], noise[2 * number - 1]
            gone = (first - second) if after_first(number) else (second - first)
            pairs.append(pair(number, log(1 + change) + gone))
            if number in looks_at(most):
                check = Check("p", limit, change_in(pairs, "p", "step_time"))
                checks = decide([check], looks=len(looks_at(most)))
                if checks[0].word is not Guarded.CANNOT_TELL:
                    break
        answers.append(overall(checks)[0])
        made += len(pairs)
    return answers, made / GUARDS


def test_equal_sides_fail_in_no_more_than_one_of_twenty() -> None:
    """At a limit of +3 %, of +0 %, and where the truth is at the limit. Two standard errors are allowed: 3 %."""
    equal, pairs = guarded(0.0, LIMIT, seed=1)
    assert equal.count(Guarded.WORSE) <= ERROR * GUARDS / 10
    assert equal.count(Guarded.WITHIN) >= 0.7 * GUARDS and pairs < 11, "and most are shown to be within"
    at_the_limit, _ = guarded(0.03, LIMIT, seed=2)
    assert at_the_limit.count(Guarded.WORSE) <= (ERROR + 0.03) * GUARDS
    assert at_the_limit.count(Guarded.WITHIN) <= (ERROR + 0.03) * GUARDS
    nothing, _ = guarded(0.0, Limit(quantity="step_time", change=0.0), seed=3)
    assert nothing.count(Guarded.WORSE) <= (ERROR + 0.03) * GUARDS


def test_a_change_of_twice_the_limit_fails_in_nine_of_ten() -> None:
    slower, pairs = guarded(0.06, LIMIT, seed=4)
    assert slower.count(Guarded.WORSE) >= 0.9 * GUARDS
    assert pairs < 10
    assert Guarded.WITHIN not in slower


def spoiled(number: int, worse: float) -> Pair:
    return pair(number, worse).model_copy(update={"spoiled": ("other_load",)})


def test_spoiled_pairs_are_left_out_while_enough_others_are_left() -> None:
    quiet = [pair(number, 0.01 * number) for number in range(1, 5)]
    change = change_in([*quiet, spoiled(5, 3.0)], "p", "step_time")
    assert change.runs == 4
    assert change.value == pytest.approx(0.025)
    assert change_in([*quiet[:3], spoiled(4, 3.0)], "p", "step_time").runs == 4


@pytest.mark.parametrize(
    ("quiet", "busy", "disturbed"), [(0, 4, True), (1, 3, True), (2, 2, False), (4, 8, False)]
)
def test_a_point_is_disturbed_if_most_pairs_that_count_are(quiet: int, busy: int, disturbed: bool) -> None:
    pairs = [pair(number, 0.01) for number in range(1, quiet + 1)]
    pairs += [spoiled(number, 0.01) for number in range(quiet + 1, quiet + busy + 1)]
    assert is_disturbed(pairs, "p") is disturbed


def test_what_spoiled_a_pair_is_what_the_host_said() -> None:
    rows = [{"spoiled": "none"}, {"spoiled": "other_load throttled"}, {"spoiled": "unknown"}, {}]
    assert spoiled_in(rows) == ("other_load", "throttled")
    assert spoiled_in([{"spoiled": "none"}, {"spoiled": "unknown"}]) == ()
