"""One mean describes the steps, or the reason is given why it does not; counted over simulated series."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import observation
from scalestudy.analyse.run.memory import growth_of, memory_growth
from scalestudy.analyse.run.steady import find_jump, find_modes
from scalestudy.analyse.run.steps import measured, steadiness, steady_steps, training_steps
from scalestudy.errors import UserError
from scalestudy.record.observation import PART_COLUMNS
from scalestudy.registry.codes import MemoryKind, Steadiness
from scalestudy.registry.words import points as words
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from simulated import Truth, steps

SERIES = 300


def series(kind: str, random: np.random.Generator, count: int = 200) -> np.ndarray:
    """Steady step times of one mode, of several shapes; and two shapes that are not."""
    correlated = Truth(launch_cv=0, step_cv=0.03, correlation=0.5, hiccups=0)
    return {
        "correlated": lambda: steps(correlated, count + 100, random)[100:],
        "skewed": lambda: 1 + random.gamma(1, 0.1, count),
        "hiccups": lambda: steps(Truth(launch_cv=0, hiccups=0.05), count + 100, random)[100:],
        "lognormal": lambda: np.exp(random.normal(0, 0.5, count)),
        "jump": lambda: steps(correlated, count + 100, random)[100:] * np.where(np.arange(count) < 80, 1, 1.1),
        "modes": lambda: np.exp(random.normal(0, 0.04, count)) * np.where(random.random(count) < 0.3, 1.3, 1),
    }[kind]()


def said_of(step_times_s: np.ndarray) -> str:
    return words.steadiness(steadiness(step_times_s, np.arange(len(step_times_s))))


@pytest.mark.parametrize("kind", ["correlated", "skewed", "hiccups", "lognormal"])
def test_one_steady_mode_is_left_alone(kind: str) -> None:
    random = np.random.default_rng(5)
    found = [series(kind, random) for _ in range(SERIES)]
    assert np.mean([find_jump(s) is not None for s in found]) <= 0.03
    assert np.mean([find_modes(s) is not None for s in found]) <= 0.02


def test_short_series_of_one_mode_are_left_alone() -> None:
    random = np.random.default_rng(5)
    found = [series("skewed", random, 50) for _ in range(SERIES)]
    assert np.mean([find_jump(s) is not None for s in found]) <= 0.03
    assert np.mean([find_modes(s) is not None for s in found]) <= 0.03


def test_a_slow_wander_below_fast_noise_is_no_jump() -> None:
    """Two ranks that wait for each other have such steps: the next one tells little, and the level wanders."""
    random = np.random.default_rng(5)
    slow = Truth(launch_cv=0, step_cv=0.12, correlation=0.95, hiccups=0)
    found = [
        steps(slow, 1100, random)[100:] * np.exp(random.normal(0, 0.25, 1000)) for _ in range(SERIES)
    ]  # by the correlation of neighbours alone more than half of them have a jump
    assert np.mean([find_jump(s) is not None for s in found]) <= 0.15


def test_a_jump_is_found_where_it_is() -> None:
    random = np.random.default_rng(5)
    found = [find_jump(series("jump", random)) for _ in range(SERIES)]
    assert np.mean([jump is not None for jump in found]) >= 0.95
    assert np.median([jump.at for jump in found if jump]) == pytest.approx(80, abs=3)
    assert np.median([jump.factor for jump in found if jump]) == pytest.approx(1.1, abs=0.01)


def test_two_modes_are_found_with_their_times() -> None:
    random = np.random.default_rng(5)
    found = [find_modes(series("modes", random)) for _ in range(SERIES)]
    assert np.mean([modes is not None for modes in found]) >= 0.95
    seen = [modes for modes in found if modes]
    assert np.median([modes.fast_s for modes in seen]) == pytest.approx(1, rel=0.01)
    assert np.median([modes.slow_s for modes in seen]) == pytest.approx(1.3, rel=0.01)
    assert np.median([modes.slow_share for modes in seen]) == pytest.approx(0.3, abs=0.03)


def test_the_sentence_names_times_and_change() -> None:
    fast_and_slow = np.tile([0.0030] * 4 + [0.0045] * 4, 20) * np.random.default_rng(1).normal(1, 0.01, 160)
    assert said_of(fast_and_slow) == "two modes: 3 ms and 4.5 ms (50 % of the steps)"
    slower = np.concatenate([np.full(60, 0.003), np.full(60, 0.0045)]) * np.random.default_rng(1).normal(
        1, 0.01, 120
    )
    assert said_of(slower) == "no steady state: the step time changed by +50 % after 60 steady steps"
    assert said_of(np.full(100, 0.003)) == ""


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    return next(s for s in make_plan(parse_study(content, source="x")).runs.values() if s.world_size == 2)


def test_a_rank_with_fewer_steps_is_refused_by_name(spec: RunSpec) -> None:
    short = observation(spec, [[0.001] * 40, [0.001] * 30])
    with pytest.raises(UserError, match=f"{spec.run_id}: rank 1 reports 30 steps, rank 0 40"):
        training_steps(short)


def test_a_negative_time_is_refused_by_name(spec: RunSpec) -> None:
    backwards = observation(spec, [[0.001] * 40] * 2)
    backwards.steps.loc[7, "backward_time_s"] = -0.001
    with pytest.raises(UserError, match=f"{spec.run_id}: a step has a negative time"):
        training_steps(backwards)


def test_steps_that_took_no_time_are_refused_by_name(spec: RunSpec) -> None:
    still = observation(spec, [[0.0] * 40] * 2)
    with pytest.raises(UserError, match=f"{spec.run_id}: every step has a time of zero"):
        training_steps(still)


def test_probes_are_no_part_of_the_step_time(spec: RunSpec) -> None:
    made = observation(spec, [[0.001] * 40 + [0.5] * 10] * 2)
    made.steps.loc[made.steps["step"] >= 40, "phase"] = "probe-sync"
    assert measured(made, confidence=0.95)["step_time_s"] == pytest.approx(0.001)
    assert steady_steps(made).of_step("step").max() == 39


def test_parts_add_up_to_the_step_time_and_skew_is_kept(spec: RunSpec) -> None:
    row = measured(observation(spec, [[0.001] * 40, [0.0012] * 40]), confidence=0.95)
    assert sum(row[part] for part in PART_COLUMNS) == pytest.approx(0.0011)  # the mean over ranks
    assert row["step_time_s"] == pytest.approx(0.0012)  # the slowest
    assert row["rank_skew_s"] == pytest.approx(0.0002)
    assert row["steadiness"] == Steadiness.STEADY


def test_a_leak_is_told_from_noise() -> None:
    random = np.random.default_rng(3)
    noise = 1 + random.normal(0, 0.002, 30)
    at = np.arange(30) * 20
    leaking = noise + at * 1e-4
    slope, grows = memory_growth(at, leaking, confidence=0.95)
    assert grows
    assert slope.low < 0.1 < slope.high
    blocks = pd.DataFrame({"rank": 0, "phase": "measured", "first_step": at, "resident_gib": leaking})
    found = growth_of(blocks.assign(allocated_gib=np.nan), warmup_steps=0, confidence=0.95)
    assert found["memory_grows"]
    assert (found["memory_growth_kind"], found["memory_growth_rank"]) == (MemoryKind.RESIDENT, 0)
    assert found["memory_growth_gib_per_1000_steps"] == pytest.approx(0.1, rel=0.05)
    assert not memory_growth(at, noise, confidence=0.95)[1]
    assert not memory_growth(at, np.ones(30), confidence=0.95)[1]
    assert not memory_growth(at[:5], leaking[:5], confidence=0.95)[1]


def test_leaks_are_rarely_seen_where_there_are_none() -> None:
    random = np.random.default_rng(3)
    false = [
        memory_growth(np.arange(20) * 20, 1 + random.normal(0, 0.002, 20), confidence=0.95)[1] for _ in range(300)
    ]
    assert np.mean(false) <= 0.05
