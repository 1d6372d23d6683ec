"""Accuracy: kept, lost or not shown; and the time it took to reach."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import study_of
from scalestudy.analyse.point.accuracy import compare_accuracy, every_run, resolution, time_to_accuracy
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scipy import stats

BASE = [0.970, 0.990, 0.951, 0.969]  # seeds matter more than what is compared


def compare(differences: list[float] | np.ndarray, confidence: float = 0.95) -> tuple[Interval, str]:
    """Comparison of runs that differ from those of equal seed by so much."""
    base = pd.Series(BASE[: len(differences)] if len(differences) <= 4 else 0.97, index=range(len(differences)))
    return compare_accuracy(base + differences, base, margin=0.01, confidence=confidence)


@pytest.mark.parametrize(
    ("differences", "shown"),
    [
        ([0.001, -0.002, 0.001, 0.0], "equivalent"),
        ([-0.004, -0.005, -0.003, -0.004], "equivalent"),  # lower beyond doubt, and too little to matter
        ([-0.030, -0.031, -0.029, -0.032], "lower"),
        ([0.020, 0.021, 0.019, 0.022], "higher"),
        ([0.020, -0.020, -0.040, 0.015], "not_shown"),
        ([0.0], "not_shown"),
        ([], "not_shown"),
    ],
)
def test_accuracy_is_kept_lost_or_not_shown(differences: list[float], shown: str) -> None:
    assert compare(differences)[1] == shown


def test_only_launches_of_equal_seed_are_compared() -> None:
    mine = pd.Series([0.951, 0.97], index=[3, 1])
    base = pd.Series([0.97, 0.99, 0.951], index=[1, 2, 3])
    interval, shown = compare_accuracy(mine, base, margin=0.01, confidence=0.95)
    assert interval.value == 0
    assert shown == "equivalent"


def test_differences_that_are_all_the_same_keep_the_width_of_a_count() -> None:
    """Three runs, each with four of 359 held-out samples fewer."""
    base = pd.Series([337, 344, 349]) / 359
    interval, shown = compare_accuracy(base - 4 / 359, base, margin=0.02, confidence=0.95)
    half = stats.norm.ppf(0.975) * (1 / 359) / np.sqrt(6 * 3)
    assert vars(interval) == pytest.approx({"value": -4 / 359, "low": -4 / 359 - half, "high": -4 / 359 + half})
    assert shown == "equivalent"


@pytest.mark.parametrize("samples", [359, 7600, 10_000, 123_457])
def test_the_number_of_held_out_samples_is_read_from_accuracies(samples: int) -> None:
    right = np.random.default_rng(samples).integers(0, samples + 1, 6)
    assert samples % round(1 / resolution(right / samples)) == 0
    assert resolution([1 / samples, 0.0, 1.0]) == pytest.approx(1 / samples)
    assert resolution(np.random.default_rng(1).uniform(size=6)) < 1e-12
    assert resolution([0.9, 0.85]) == 0.01, "not a twentieth"


def test_equivalence_agrees_with_two_one_sided_tests() -> None:
    """Equivalent exactly where both one-sided p-values are below 5 %."""
    generator = np.random.default_rng(4)
    decided = set()
    for _ in range(300):
        differences = generator.normal(generator.uniform(-0.02, 0.02), 0.004, 4)
        above = stats.ttest_1samp(differences, -0.01, alternative="greater").pvalue
        below = stats.ttest_1samp(differences, 0.01, alternative="less").pvalue
        expected = max(above, below) < 0.05
        assert (compare(differences)[1] == "equivalent") == expected
        decided.add(expected)
    assert decided == {True, False}


def test_a_loss_as_large_as_the_margin_is_called_equivalent_at_most_at_the_level() -> None:
    generator = np.random.default_rng(5)
    said = sum(compare(generator.normal(-0.01, 0.003, 5))[1] == "equivalent" for _ in range(2000))
    assert said / 2000 <= 0.065


def test_time_to_accuracy_is_linear_between_the_ends_of_epochs() -> None:
    epochs = pd.DataFrame({"epoch_time_s": [1.0, 2.0, 4.0], "validation_accuracy": [0.5, 0.9, 0.89]})
    assert time_to_accuracy(epochs, 0.9) == pytest.approx(3.0)
    assert time_to_accuracy(epochs, 0.7) == pytest.approx(2.0)
    assert time_to_accuracy(epochs, 0.4) == 1.0  # nobody knows the accuracy before the first epoch
    assert isnan(time_to_accuracy(epochs, 0.95))
    assert isnan(time_to_accuracy(epochs, None))
    assert isnan(time_to_accuracy(epochs.iloc[:0], 0.9))


def summary_with(content: dict[str, Any], times: dict[tuple[int, int], list[float]]) -> pd.DataFrame:
    """Summary of a study in which runs reached the target after these seconds (world size, batch)."""
    content["workloads"]["mlp"]["target_accuracy"] = 0.9
    plan = make_plan(parse_study(content, source="x"))
    steps = {(s.workload, s.world_size, s.batch_per_rank): [0.001, 0.001] for s in plan.runs.values()}
    runs = study_of(plan, steps)
    for (world_size, batch), values in times.items():
        chosen = (runs["world_size"] == world_size) & (runs["batch_per_rank"] == batch)
        runs.loc[chosen, "time_to_accuracy_s"] = values
    return summary_frame(plan, runs).set_index(["scaling", "world_size"])


def test_speedup_of_the_time_to_accuracy(content: dict[str, Any]) -> None:
    times = {(1, 32): [8.0, 8.0], (2, 16): [5.0, 5.0], (2, 32): [4.0, np.nan]}
    summary = summary_with(content, times)
    assert summary.loc[("strong", 2), "time_to_accuracy_s"] == pytest.approx(5.0)
    assert summary.loc[("strong", 2), "time_to_accuracy_speedup"] == pytest.approx(1.6)
    assert summary.loc[("strong", 2), "launches_at_accuracy"] == 2


def test_a_launch_that_never_reached_the_target_leaves_no_mean(content: dict[str, Any]) -> None:
    summary = summary_with(content, {(1, 32): [8.0, 8.0], (2, 32): [4.0, np.nan]})
    assert isnan(summary.loc[("weak", 2), "time_to_accuracy_s"])
    assert summary.loc[("weak", 2), "launches_at_accuracy"] == 1


@pytest.mark.parametrize(
    ("mine", "base", "said"),
    [
        ([0.78, 0.81, 0.85], [0.914, 0.92, 0.933], "lower"),
        ([0.95, 0.96], [0.90, 0.94, 0.93], "higher"),
        ([0.78, 0.92], [0.914, 0.93], ""),
        ([0.90, 0.90], [0.90, 0.95], ""),
        ([0.5], [0.9, 0.9], ""),
        ([0.5, 0.6], [0.9], ""),
        ([0.5, nan], [0.9, 0.9], ""),
        ([], [], ""),
    ],
)
def test_runs_that_all_say_the_same_are_counted(mine: list[float], base: list[float], said: str) -> None:
    assert every_run(pd.Series(mine, dtype=float), pd.Series(base, dtype=float)) == said
