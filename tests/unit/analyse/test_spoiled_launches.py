"""A run is marked by the readings of its host; spoiled repeats are left out, counted, and repeated."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, facts_of, rows_book, study_of
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.spoiled import spoiled_columns
from scalestudy.analyse.statistics.intervals import Interval, ratio_on_logs
from scalestudy.analyse.study.decision import decide
from scalestudy.analyse.study.floors import floors_frame
from scalestudy.publish.views.facts import spoiled_launches
from scalestudy.publish.views.rows import notes_view
from scalestudy.registry.codes import IntervalMethod
from scalestudy.registry.words.points import spoiled
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.spoiled import SpoiledFrom
from scalestudy.study.plan import Plan, make_plan

QUIET = {"span_s": 4.0, "cpus": 2, "own_cores": 1.9, "others_cores": 0.02, "stolen_share": 0.0, "swapped_mib": 0.0}
QUIET |= {"memory_stall_share": 0.0, "throttled_share": 0.0, "clock_jump_s": 0.0, "gpu_others": 0}
COOL = {"thermal_slowdown_share": nan, "hardware_slowdown_share": nan}


def marks(*loads: dict[str, Any], gpus: dict[str, float] | None = None, **limits: Any) -> str:
    entry = {"host_load": {"training": [QUIET | load for load in loads]}}
    return str(spoiled_columns(entry, COOL | (gpus or {}), SpoiledFrom(**limits))["spoiled"])


@pytest.mark.parametrize(
    ("load", "mark"),
    [
        ({}, "none"),
        ({"others_cores": 0.11}, "other_load"),
        ({"others_cores": 0.09}, "none"),
        ({"others_cores": 0.2, "cpus": 64}, "none"),
        ({"others_cores": 0.3, "cpus": 64}, "other_load"),
        ({"others_cores": 0.4, "span_s": 0.1}, "none"),
        ({"own_cores": 0.1}, "none"),
        ({"stolen_share": 0.03}, "stolen_time"),
        ({"throttled_share": 0.1}, "throttled"),
        ({"swapped_mib": 40}, "swapped"),
        ({"swapped_mib": 3}, "none"),
        ({"memory_stall_share": 0.1}, "swapped"),
        ({"clock_jump_s": 3600}, "clock_set"),
        ({"gpu_others": 1}, "shared_gpu"),
        ({"others_cores": 1, "clock_jump_s": 1}, "other_load clock_set"),
    ],
)
def test_a_launch_is_marked_by_what_its_host_says(load: dict[str, Any], mark: str) -> None:
    assert marks(load) == mark
    assert marks({}, load) == mark, "any node of it"


def test_a_gpu_that_is_held_back_marks_a_launch_and_a_limit_of_power_does_not() -> None:
    assert marks({}, gpus={"thermal_slowdown_share": 0.2}) == "throttled"
    assert marks({}, gpus={"hardware_slowdown_share": 0.2}) == "throttled"
    assert marks({}, gpus={"thermal_slowdown_share": 0.0}) == "none"


def test_limits_are_the_study_s_and_a_record_without_readings_is_not_clean() -> None:
    assert marks({"others_cores": 0.3}, others_share=0.2) == "other_load"
    assert marks({"others_cores": 0.2}, others_share=0.2) == "none"
    found = spoiled_columns({}, COOL, SpoiledFrom())
    assert (found["spoiled"], found["spoiled_after"]) == ("unknown", "unknown")
    assert isnan(found["others_cores"])


BASE = [0.0100, 0.0104, 0.0097, 0.0101, 0.0102, 0.0099]
MINE = [0.0064, 0.0066, 0.0063, 0.0064, 0.0065, 0.0063]
SLOW = 1.6
"""Times the step of a run beside other load: the quiet speedup is 1.57, beside load it is 0.98 or 2.5."""


def plan_of(**changes: Any) -> Plan:
    workloads = {"mlp": mlp_workload(scaling=["strong"])}
    return make_plan(
        parse_study(small_content(workloads=workloads) | {"repeats": 3, "max_repeats": 6} | changes, source="x")
    )


def runs_of(
    plan: Plan, spoiled: dict[int, tuple[int, ...]], *, repeats: int, mark: str = "other_load"
) -> pd.DataFrame:
    """Launches of the first repeats. spoiled: by ranks, the repeats in which other load slowed them."""
    times = {("mlp", 1, 32): BASE, ("mlp", 1, 16): BASE, ("mlp", 2, 16): MINE}
    runs = study_of(plan, times, environment={"host_load": {"training": [QUIET]}})
    runs = runs[runs["repeat"] <= repeats].copy()
    for ranks, which in spoiled.items():
        at = (runs["world_size"] == ranks) & runs["repeat"].isin(which)
        runs.loc[at, "spoiled"] = mark
        runs.loc[at, ["step_time_s"]] *= SLOW
        runs.loc[at, ["throughput_samples_per_s"]] /= SLOW
    return runs


def row_of(summary: pd.DataFrame, ranks: int = 2) -> pd.Series:
    return summary[(summary["world_size"] == ranks) & (summary["scaling"] == "strong")].iloc[0]


def test_a_spoiled_repeat_is_left_out_whole_and_its_effect_is_shown() -> None:
    plan = plan_of()
    row = row_of(summary_frame(plan, runs_of(plan, {2: (1,)}, repeats=6)))
    only = runs_of(plan, {}, repeats=6)
    only.loc[only["repeat"] == 1, "outcome"] = "failed"
    clean = row_of(summary_frame(plan, only))
    for name in ("speedup", "speedup_low", "speedup_high", "efficiency", "overhead_s"):
        assert row[name] == pytest.approx(clean[name]), name
    assert (row["repeats_spoiled"], row["repeats_clean"], row["spoiled_left_out"]) == (1, 5, 1)
    assert (row["repeats_compared"], row["launches_ok"], row["launches_spoiled"]) == (5, 6, 1)
    assert row["speedup_without_spoiled"] == pytest.approx(row["speedup"])
    assert row["speedup_with_spoiled"] < 0.95 * row["speedup"]
    assert row["step_time_with_spoiled_s"] > row["step_time_s"]


def test_where_few_repeats_are_whole_all_undisturbed_runs_count() -> None:
    """Two whole repeats of six, and four undisturbed runs of each point: Welch's interval of these."""
    plan = plan_of()
    runs = runs_of(plan, {2: (1, 2), 1: (5, 6)}, repeats=6)
    row = row_of(summary_frame(plan, runs))
    assert row["interval"] == IntervalMethod.WELCH
    given = ratio_on_logs(
        [1 / one for one in MINE[2:]], [1 / one for one in BASE[:4]], confidence=plan.study.level
    )
    found = Interval.of(row, "speedup")
    assert (found.value, found.low, found.high) == pytest.approx((given.value, given.low, given.high))
    assert found.low < BASE[0] / MINE[0] < found.high
    assert found.relative_half_width < Interval.of(row, "speedup_without_spoiled").relative_half_width / 3
    sentence = spoiled(row)
    assert sentence.startswith("4 of 6 repeats were measured under other load on the host and are left out; the ")


def test_the_method_depends_on_the_marks_and_on_no_time() -> None:
    plan = plan_of()
    runs = runs_of(plan, {2: (1, 2), 1: (5, 6)}, repeats=6)
    other = runs.assign(
        step_time_s=runs["step_time_s"] ** 2, throughput_samples_per_s=1 / runs["step_time_s"] ** 2
    )
    assert row_of(summary_frame(plan, other))["interval"] == IntervalMethod.WELCH
    quiet = row_of(summary_frame(plan, runs_of(plan, {}, repeats=6)))
    assert quiet["interval"] == IntervalMethod.T_WITHIN_REPEATS, "where nothing was disturbed nothing changes"


def test_where_too_few_repeats_are_left_all_count_and_are_marked() -> None:
    plan = plan_of()
    row = row_of(summary_frame(plan, runs_of(plan, {2: (1, 2)}, repeats=3)))
    assert (row["repeats_spoiled"], row["repeats_clean"], row["spoiled_left_out"]) == (2, 1, 0)
    assert row["repeats_compared"] == 3
    assert row["speedup"] == pytest.approx(row["speedup_with_spoiled"])
    assert row["speedup_without_spoiled"] == pytest.approx(BASE[2] / MINE[2])


def test_a_study_may_keep_them_in() -> None:
    plan = plan_of(report={"spoiled": {"leave_out": False}})
    row = row_of(summary_frame(plan, runs_of(plan, {2: (1, 2)}, repeats=6)))
    assert (row["repeats_compared"], row["spoiled_left_out"]) == (6, 0)
    assert row["speedup"] == pytest.approx(row["speedup_with_spoiled"])


def test_launches_that_nobody_watched_count_and_are_said_to_be_unknown() -> None:
    plan = plan_of()
    runs = runs_of(plan, {2: (1,)}, repeats=3, mark="unknown")
    row = row_of(summary_frame(plan, runs))
    assert (row["launches_not_watched"], row["launches_spoiled"], row["repeats_compared"]) == (1, 0, 3)
    assert spoiled_launches(runs) == f"For 1 of {len(runs)} runs it is not known what else ran on the host."


def test_the_verdict_s_own_sentence_the_notes_and_the_first_screen_say_it() -> None:
    plan = plan_of()
    runs = runs_of(plan, {2: (1, 2, 3)}, repeats=6)
    summary = summary_frame(plan, runs)
    said = "3 of 6 repeats were measured under other load on the host and are left out"
    said += "; the undisturbed runs of these repeats count"
    (diagnosis,) = [one for one in diagnosed(plan, summary) if one.world_size == 2]
    assert diagnosis.sentence.endswith(said)
    assert any(
        said in note and "with all runs and" in note
        for note in notes_view(rows_book(summary), "mlp.ddp.strong.n2", row_of(summary))
    )
    facts = facts_of(plan, summary, runs)
    (leading,) = facts["leading"]
    assert said in leading["row"]["spoiled"]
    assert facts["spoiled"] == f"3 of {len(runs)} runs were measured under other load on the host."


def test_two_launches_are_said_to_be_two() -> None:
    plan = plan_of()
    runs = runs_of(plan, {2: (3,)}, repeats=3)
    summary = summary_frame(plan, runs)
    (diagnosis,) = [one for one in diagnosed(plan, summary) if one.world_size == 2]
    assert "this verdict rests on two runs only" in diagnosis.sentence
    assert facts_of(plan, summary, runs)["leading"][0]["row"]["two_launches"]


def test_a_verdict_of_one_run_is_called_that() -> None:
    plan = plan_of()
    runs = runs_of(plan, {}, repeats=1)
    (judged,) = facts_of(plan, summary_frame(plan, runs), runs)["leading"]
    assert judged["row"]["one_launch"]
    assert judged["verdict"] == f"{judged['code'].replace('_', ' ')} by one run"


@pytest.mark.parametrize(
    ("spoiled", "again"),
    [({}, False), ({2: (1,)}, True), ({1: (1, 2)}, True)],
    ids=["quiet", "one of two ranks", "two of the base case"],
)
def test_spoiled_repeats_are_launched_again_and_quiet_ones_are_not(
    spoiled: dict[int, tuple[int, ...]], again: bool
) -> None:
    """Decided or not: the whole repeat, with all runs that are compared in it."""
    plan = plan_of(report={"target_efficiency": 0.3})
    runs = runs_of(plan, spoiled, repeats=3)
    decision = decide(plan, runs, summary_frame(plan, runs), after=3)
    assert decision.replaces is again
    (comparison,) = decision.comparisons
    assert comparison.settled == ("no" if again else "decided")
    assert {plan.runs[run].repeat for run in decision.needed} == ({4, 5} if again else set())
    assert {plan.runs[run].world_size for run in decision.needed} == ({1, 2} if again else set())
    quiet_again = decide(plan, more := runs_of(plan, spoiled, repeats=5), summary_frame(plan, more), after=5)
    assert not quiet_again.needed, "three quiet repeats are there now"


def test_launches_are_not_replaced_where_the_study_does_not_ask_for_it() -> None:
    plan = plan_of(measure={"replace_spoiled": False}, report={"target_efficiency": 0.3})
    runs = runs_of(plan, {2: (3,)}, repeats=3)
    assert not decide(plan, runs, summary_frame(plan, runs), after=3).needed


def test_the_smallest_difference_is_that_of_quiet_launches() -> None:
    plan = plan_of(measure={"floor": True})
    quiet, spoiled = (runs_of(plan, {}, repeats=6) for _ in range(2))
    at = (spoiled["variant"] == "single-again") & (spoiled["repeat"] == 2)
    spoiled.loc[at, "step_time_s"] *= SLOW
    spoiled.loc[at, "spoiled"] = "other_load"
    found, expected = floors_frame(plan, spoiled), floors_frame(plan, quiet[quiet["repeat"] != 2])
    assert found["smallest_difference"].iloc[0] == pytest.approx(expected["smallest_difference"].iloc[0])
