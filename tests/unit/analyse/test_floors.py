"""The smallest difference that a study can show, checked on simulated studies with a known true value."""

from __future__ import annotations

from math import expm1, isnan, log, log1p, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import declared, study_of
from conftest import small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.blocks import differences
from scalestudy.analyse.statistics.intervals import Interval, Sample, mean
from scalestudy.analyse.statistics.power import smallest_shown, spread
from scalestudy.analyse.study.floors import FEWEST_FREEDOM, claims_below, floor_of, floors_frame
from scalestudy.registry.codes import Claim, IntervalMethod
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scipy import stats

STUDIES = 1000
DRIFT, NOISE = 0.05, 0.01
"""Standard deviations of logarithms: common to a repeat, and of a single run."""


def plan_of(**changes: Any) -> Plan:
    measure = {"floor": True} | changes.pop("measure", {})
    return make_plan(parse_study(small_content(measure=measure, **changes), source="x"))


def runs_of(plan: Plan, first: np.ndarray, again: np.ndarray) -> pd.DataFrame:
    """What floors_frame reads of runs.csv; step times of each repeat."""
    (twin,) = plan.twins
    times = dict(zip(twin.base, first, strict=False)) | dict(zip(twin.runs, again, strict=False))
    same = {"outcome": "ok", "protocol": 1, "strategy": "single"}
    rows = [
        same | {"run_id": run, "repeat": plan.runs[run].repeat, "step_time_s": time} for run, time in times.items()
    ]
    return pd.DataFrame(rows)


def simulated(
    repeats: int, random: np.random.Generator, *, true_ratio: float = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Step times of a baseline and of a twin: drift of the host in common, noise of their own."""
    drift = DRIFT * random.standard_normal(repeats)
    first, again = (np.exp(drift + NOISE * random.standard_normal(repeats)) for _ in range(2))
    return first, true_ratio * again


@pytest.mark.parametrize("repeats", [2, 3, 5, 8])
def test_the_smallest_difference_is_shown_in_four_of_five_studies(repeats: int) -> None:
    """The true spread is known here, so the difference is exact; the interval has to show it."""
    random, level = np.random.default_rng(repeats), 0.95
    truth = Interval(sqrt(2) * NOISE)
    size = smallest_shown(truth, count=repeats, freedom=repeats - 1, confidence=level).value
    shown = 0
    for _ in range(STUDIES):
        first, again = (pd.Series(times) for times in simulated(repeats, random, true_ratio=np.exp(size)))
        within = differences(np.log(again), np.log(first), planned=repeats)
        shown += mean(within, confidence=level).low > 0
    assert shown / STUDIES == pytest.approx(0.8, abs=0.04)  # three standard errors


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.9875])
@pytest.mark.parametrize("freedom", [1, 2, 4, 11, 40])
def test_the_power_is_that_of_the_noncentral_t(freedom: int, confidence: float) -> None:
    size = smallest_shown(Interval(1.0), count=freedom + 1, freedom=freedom, confidence=confidence).value
    quantile = stats.t.ppf(0.5 + confidence / 2, freedom)
    assert stats.nct.sf(quantile, freedom, size * sqrt(freedom + 1)) == pytest.approx(0.8, abs=1e-6)
    about = quantile + stats.t.ppf(0.8, freedom)
    assert size * sqrt(freedom + 1) == pytest.approx(about, rel=0.3 if freedom < 4 else 0.06)


def test_the_limits_of_a_spread_are_those_of_chi_square() -> None:
    found = spread(Sample([1.0, 2.0, 4.0, 5.0]), confidence=0.9)
    low, high = stats.chi2.ppf([0.05, 0.95], 3)
    assert found.value == pytest.approx(np.std([1, 2, 4, 5], ddof=1))
    assert (found.low, found.high) == pytest.approx(tuple(found.value * np.sqrt(3 / np.array([high, low]))))
    assert isnan(spread(Sample([1.0]), confidence=0.9).value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("repeats", "measure"),
    [
        ({"repeats": 5}, {}),
        ({"repeats": 3, "max_repeats": 12}, {}),
        ({"repeats": 3, "max_repeats": 5}, {"until": "precise"}),
    ],
)
def test_identical_base_cases_show_no_difference_as_often_as_said(
    repeats: dict[str, int], measure: dict[str, Any]
) -> None:
    """The limits of the smallest difference also include the value that follows from the true spread."""
    plan, random = plan_of(**repeats, measure=measure), np.random.default_rng(1)
    study = plan.study
    most = study.most_repeats
    freedom = study.repeats_for_spread - 1
    truth = smallest_shown(Interval(sqrt(2) * NOISE), count=most, freedom=freedom, confidence=study.level)
    size = expm1(truth.value)
    holds = held = 0
    for _ in range(STUDIES):
        row = floors_frame(plan, runs_of(plan, *simulated(most, random))).iloc[0]
        assert (row["shows"] == "no_difference") == (
            row["step_time_difference_low"] <= 0 <= row["step_time_difference_high"]
        )
        holds += row["shows"] == "no_difference"
        assert isnan(row["smallest_difference_low"]) == (freedom < FEWEST_FREEDOM)
        held += row["smallest_difference_low"] <= size <= row["smallest_difference_high"]
    for share in (holds / STUDIES, *([held / STUDIES] if freedom >= FEWEST_FREEDOM else [])):
        assert share == pytest.approx(study.level, abs=4 * sqrt(study.level * (1 - study.level) / STUDIES))


def test_more_repeats_show_smaller_differences() -> None:
    plan = plan_of(repeats=3, max_repeats=12)
    row = floors_frame(plan, runs_of(plan, *simulated(3, np.random.default_rng(2)))).iloc[0]
    assert (row["repeats_compared"], row["most_repeats"]) == (3, 12)
    assert 0 < row["half_width"] < row["smallest_difference"]
    assert row["smallest_difference_at_most"] < row["smallest_difference"] / 2
    now, then = (log1p(row[name]) for name in ("smallest_difference", "smallest_difference_at_most"))
    one = Interval(1.0)
    sizes = [smallest_shown(one, count=n, freedom=n - 1, confidence=plan.study.level).value for n in (3, 12)]
    assert now / then == pytest.approx(sizes[0] / sizes[1])


def test_a_spread_of_the_first_repeats_keeps_its_freedom() -> None:
    plan = plan_of(repeats=3, max_repeats=12, measure={"until": "precise"})
    row = floors_frame(plan, runs_of(plan, *simulated(3, np.random.default_rng(2)))).iloc[0]
    now, then = (log1p(row[name]) for name in ("smallest_difference", "smallest_difference_at_most"))
    assert now / then == pytest.approx(2.0)  # the root of 12 / 3 runs


def test_drift_is_told_apart_from_the_noise_of_launches() -> None:
    plan = plan_of(repeats=12)
    row = floors_frame(plan, runs_of(plan, *simulated(12, np.random.default_rng(3)))).iloc[0]
    assert row["shared_variance_low"] > 0.5
    alone = runs_of(plan, *(np.exp(NOISE * np.random.default_rng(4).standard_normal((2, 12)))))
    row = floors_frame(plan, alone).iloc[0]
    assert row["shared_variance_low"] < 0 < row["shared_variance_high"]


def test_a_host_that_slows_every_second_launch_is_found_out() -> None:
    plan = plan_of(repeats=5)
    first, again = simulated(5, np.random.default_rng(5), true_ratio=1.2)
    row = floors_frame(plan, runs_of(plan, first, again)).iloc[0]
    assert (row["shows"], row["step_time_difference_low"] > 0.1) == ("slower", True)
    assert floors_frame(plan, runs_of(plan, again, first)).iloc[0]["shows"] == "faster"


def test_two_repeats_that_differ_a_lot_have_a_smallest_difference() -> None:
    """Step times of a busy host. The upper limit is exp(1133), which is above the largest float."""
    plan = plan_of(repeats=2, max_repeats=8, measure={"until": "decided"})
    assert plan.study.level > 0.98
    row = floors_frame(plan, runs_of(plan, np.array([0.0330, 0.0342]), np.array([0.0403, 0.0318]))).iloc[0]
    assert row["smallest_difference"] > 1000
    assert isnan(row["smallest_difference_high"])


def test_fewer_than_two_repeats_have_no_floor() -> None:
    plan = plan_of(repeats=2)
    runs = runs_of(plan, np.array([1.0, 1.1]), np.array([1.0, 1.2]))
    failed = runs.assign(outcome=["ok", "ok", "ok", "failed"], step_time_s=[1.0, 1.1, 1.0, np.nan])
    row = floors_frame(plan, failed).iloc[0]
    assert (row["repeats_compared"], row["shows"]) == (1, "no_interval")
    assert row["step_time_difference"] == pytest.approx(0)
    assert all(isnan(row[name]) for name in ("half_width", "smallest_difference", "smallest_difference_at_most"))
    nothing = floors_frame(plan, runs.assign(outcome="oom", step_time_s=np.nan)).iloc[0]
    assert (nothing["repeats_compared"], nothing["shows"]) == (0, "none")
    assert floors_frame(plan_of(repeats=2, measure={"floor": False}), runs).empty


def test_the_summary_is_the_same_with_twins_and_without() -> None:
    """They are not averaged with the baseline, and are not points."""
    times = {("mlp", 1, 32): [0.01, 0.011], ("mlp", 1, 16): [0.006, 0.006]}
    times |= {("mlp", 2, 16): [0.005, 0.006], ("mlp", 2, 32): [0.012, 0.011]}
    plans = [plan_of(measure={"floor": floor}) for floor in (True, False)]
    with_twins, without = (summary_frame(plan, study_of(plan, times)) for plan in plans)
    pd.testing.assert_frame_equal(with_twins, without)
    again = study_of(plans[0], times)
    again.loc[again["variant"] == "single-again", "step_time_s"] *= 3
    pd.testing.assert_frame_equal(summary_frame(plans[0], again), without)


def row_of(**values: Any) -> dict[str, Any]:
    row = dict.fromkeys(("speedup", "speedup_low", "speedup_high"), np.nan)
    row |= dict.fromkeys(("relative_throughput", "relative_throughput_low", "relative_throughput_high"), np.nan)
    return row | {"world_size": 2, "interval": IntervalMethod.T_WITHIN_REPEATS} | values


def interval(name: str, value: float, half: float) -> dict[str, float]:
    return Interval(value, value - half, value + half).columns(name)


@pytest.mark.parametrize(
    ("row", "claims"),
    [
        (interval("speedup", 0.98, 0.01), [Claim.BASE]),
        (interval("speedup", 0.9, 0.01), []),
        (interval("speedup", 1.52, 0.01), [Claim.TARGET]),  # 76 % where 75 % is the target
        (interval("speedup", 1.46, 0.01), [Claim.TARGET]),
        (interval("speedup", 1.52, 0.1), []),  # undecided: nothing is claimed
        (interval("speedup", 1.9, 0.01), []),
        # It says what runs of the baseline scatter by, and that is in no speedup within runs.
        (interval("speedup", 0.98, 0.01) | {"interval": IntervalMethod.T_WITHIN_LAUNCHES}, []),
        ({"speedup": 0.98}, []),
        (interval("relative_throughput", 1.02, 0.01), [Claim.VARIANT]),
        (interval("relative_throughput", 1.02, 0.05), []),
        (interval("relative_throughput", 1.2, 0.01), []),
    ],
)
def test_only_what_is_said_to_differ_can_differ_by_too_little(row: dict[str, Any], claims: list[Claim]) -> None:
    report = plan_of().study.report
    assert list(claims_below(row_of(**row), 0.04, report)) == claims
    assert list(claims_below(row_of(**row), 1e-6, report)) == []


def test_the_floor_of_a_point_is_that_of_its_base_case() -> None:
    floors = pd.DataFrame(
        [
            {"workload": "mlp", "variant": "single", "smallest_difference": 0.03},
            {"workload": "mlp", "variant": "large", "smallest_difference": np.nan},
        ]
    )
    found = floor_of({"workload": "mlp", "base_variant": "single"}, declared(floors, "floors.csv"))
    assert found is not None
    assert log(1 + found["smallest_difference"]) == pytest.approx(log1p(0.03))
    assert floor_of({"workload": "mlp", "base_variant": "large"}, floors) is None
    assert floor_of({"workload": "other", "base_variant": "single"}, floors) is None
