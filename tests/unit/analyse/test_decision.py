"""Which runs are next: the runs of undecided comparisons, in whole repeats, within the budget."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from builders import study_of
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.decision import decide
from scalestudy.analyse.study.decision_file import DecisionFile
from scalestudy.errors import RefusedStudyError
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

BASE = [0.0100, 0.0104, 0.0097, 0.0101, 0.0102, 0.0099]
CLEAR = [0.0200, 0.0207, 0.0195, 0.0203, 0.0204, 0.0198]
"""Half as fast as the baseline, whatever the host did."""
CLOSE = [0.0066, 0.0073, 0.0060, 0.0068, 0.0071, 0.0063]
"""Around the target of 75 %."""


def plan_of(**changes: Any) -> Plan:
    workloads = {"clear": mlp_workload(scaling=["strong"]), "close": mlp_workload(scaling=["strong"])}
    content = small_content(repeats=3, max_repeats=6, workloads=workloads, **changes)
    return make_plan(parse_study(content, source="x"))


def decision_of(
    plan: Plan,
    after: int,
    environment: dict[str, Any] | None = None,
    bound_h: float | None = None,
    **given: list[Any],
) -> DecisionFile:
    """The decision on runs with these step times by name of workload, from those of the first repeats."""
    times = {(name, 1, 32): BASE for name in ("clear", "close")} | {
        (name, 1, 16): BASE for name in ("clear", "close")
    }
    ddp = {"clear": CLEAR, "close": CLOSE} | given
    times |= {(name, 2, 16): values for name, values in ddp.items()}
    runs = study_of(plan, times, environment=environment)
    runs = runs[runs["repeat"] <= after]
    return decide(plan, runs, summary_frame(plan, runs), after=after, bound_device_hours=bound_h)


def test_only_comparisons_that_are_open_are_launched_again() -> None:
    plan = plan_of()
    decision = decision_of(plan, 3)
    found = {c.workload: (c.verdict, c.settled) for c in decision.comparisons}
    assert found == {"clear": ("negative_scaling", "decided"), "close": ("undecided", "no")}
    again = [plan.runs[run] for run in decision.needed]
    assert {spec.workload for spec in again} == {"close"}
    assert {spec.repeat for spec in again} == {4, 5}
    assert {(spec.variant, spec.batch_per_rank) for spec in again} == {("single", 32), ("single", 16), ("ddp", 16)}


def test_a_decision_is_a_function_of_the_launches_before_it() -> None:
    plan = plan_of()
    first = decision_of(plan, 3)
    later = decision_of(plan, 3, close=[*CLOSE[:3], 0.005, 0.005, 0.005])
    assert first == later
    assert decision_of(plan, 5).after_repeats == 5


def test_a_comparison_that_is_known_to_the_half_width_is_settled() -> None:
    precise = plan_of(measure={"half_width": 0.5})
    assert {c.settled for c in decision_of(precise, 3).comparisons} == {"decided", "precise"}
    assert not decision_of(precise, 3).needed


@pytest.mark.parametrize("failed", [("oom", "oom", "oom"), ("failed", "failed", "ok")])
def test_what_failed_is_not_launched_again(failed: tuple[str, ...]) -> None:
    ends = [0.0066 if word == "ok" else word for word in failed]
    decision = decision_of(plan_of(), 3, close=[*ends, *CLOSE[3:]])
    assert {c.workload: c.settled for c in decision.comparisons} == {"clear": "decided", "close": "failed"}
    assert not decision.needed


@pytest.mark.parametrize(("probed", "left_out"), [(3, True), (2, False), (0, False)])
def test_probes_are_left_out_where_all_planned_launches_made_them(probed: int, left_out: bool) -> None:
    """The baseline has no probes to leave out."""
    plan = plan_of()
    times = {(name, 1, batch): BASE for name in ("clear", "close") for batch in (16, 32)}
    runs = study_of(plan, times | {("clear", 2, 16): CLEAR, ("close", 2, 16): CLOSE})
    runs = runs[runs["repeat"] <= 3].copy()
    runs["differential_s"] = nan
    runs.loc[(runs["variant"] == "ddp") & (runs["repeat"] <= probed), "differential_s"] = 0.001
    decision = decide(plan, runs, summary_frame(plan, runs), after=3)
    distributed = {run for run in decision.needed if plan.runs[run].variant == "ddp"}
    assert distributed
    assert set(decision.without_probes) == (distributed if left_out else set())


@pytest.mark.parametrize(("own", "bound", "counts"), [(None, 1e-6, 1e-6), (0.02, 1e-6, 1e-6), (1e-6, 0.02, 1e-6)])
def test_the_smaller_of_the_study_s_budget_and_the_bound_of_a_trial_counts(
    own: float | None, bound: float, counts: float
) -> None:
    decision = decision_of(plan_of(measure={"budget_device_hours": own}), 3, bound_h=bound)
    assert not decision.needed
    assert (decision.budget_device_hours, decision.budget_ends_after) == (counts, 3)


def test_idle_devices_of_jobs_use_up_the_budget() -> None:
    """18 runs of 2 s are 13 of 20 millihours by their ranks; in jobs of four devices the budget is gone."""
    within = decision_of(plan_of(measure={"budget_device_hours": 0.02}), 3)
    assert within.needed
    assert within.budget_ends_after is None
    held = decision_of(plan_of(measure={"budget_device_hours": 0.02}), 3, environment={"held_devices": 4})
    assert not held.needed
    assert held.budget_ends_after == 3


def test_one_failed_launch_does_not_end_a_comparison() -> None:
    decision = decision_of(plan_of(), 3, close=["timeout", *CLOSE[1:]])
    assert {c.workload: c.repeats_compared for c in decision.comparisons} == {"clear": 3, "close": 2}
    assert decision.needed


# A run of the builder takes 2 s: a repeat of one workload 2 x (1 + 1 + 2) = 8 device-seconds, of both 16.
@pytest.mark.parametrize(
    ("seconds", "after", "ends", "repeats"),
    [
        (1000, 3, None, {4, 5}),
        (64.1, 3, None, {4, 5}),
        (63.9, 3, 4, {4}),
        (55.9, 3, 3, set()),
        (56.1, 3, 4, {4}),
        (40, 1, 2, {2}),
        (10, 1, 1, set()),
    ],
)
def test_a_budget_is_for_whole_repeats(seconds: float, after: int, ends: int | None, repeats: set[int]) -> None:
    plan = plan_of(measure={"budget_device_hours": seconds / 3600})
    decision = decision_of(plan, after)
    assert decision.budget_ends_after == ends
    assert {plan.runs[run].repeat for run in decision.needed} == repeats


def test_nothing_is_judged_before_the_first_look() -> None:
    plan = plan_of(measure={"budget_device_hours": 10})
    decision = decision_of(plan, 1)
    assert {c.settled for c in decision.comparisons} == {"no"}
    assert {plan.runs[run].repeat for run in decision.needed} == {2, 3}


def test_a_row_says_why_it_has_no_more_launches() -> None:
    plan = plan_of()
    times = {(name, 1, batch): BASE for name in ("clear", "close") for batch in (16, 32)}
    runs = study_of(plan, times | {("clear", 2, 16): CLEAR, ("close", 2, 16): CLOSE})
    made = (runs["workload"] == "close") | (runs["repeat"] <= 3)
    runs.loc[~made, "outcome"] = "unneeded"
    summary = summary_frame(plan, runs).set_index(["workload", "world_size", "batch_per_rank"])["stopped_because"]
    assert summary["clear", 2, 16] == "decided"
    assert summary["close", 2, 16] == "launches_ended"
    assert summary["close", 1, 32] == summary["clear", 1, 16] == "serves"
    runs.loc[runs["repeat"] > 5, "outcome"] = "unneeded"
    cut = summary_frame(plan, runs).set_index(["workload", "world_size"])["stopped_because"]
    assert cut.loc[[("close", 2)]].tolist() == ["hours_ended"]


def test_twins_are_launched_as_often_as_their_base_case_and_keep_nothing_open() -> None:
    without, plan = decision_of(plan_of(), 3), plan_of(measure={"floor": True})
    decision = decision_of(plan, 3)
    assert decision.comparisons == without.comparisons
    twins = {run for twin in plan.twins for run in twin.runs}
    assert set(decision.needed) - twins == set(without.needed)
    again = [plan.runs[run] for run in decision.needed if run in twins]
    assert {(spec.workload, spec.variant, spec.repeat) for spec in again} == {
        ("close", "single-again", 4),
        ("close", "single-again", 5),
    }
    settled = decision_of(plan_of(measure={"floor": True, "half_width": 0.9}), 3)
    assert not settled.needed


@pytest.mark.parametrize(("seconds", "ends"), [(80.1, None), (79.9, 4), (69.9, 3)])
def test_the_budget_counts_twins(seconds: float, ends: int | None) -> None:
    """A repeat of one workload is 2 x (1 + 1 + 1 + 2) = 10 device-seconds with its twin, of both 20."""
    plan = plan_of(measure={"budget_device_hours": seconds / 3600, "floor": True})
    assert decision_of(plan, 3).budget_ends_after == ends


PAIR = {
    "before": {"workload": "close", "variant": "ddp"},
    "after": {"workload": "clear", "variant": "ddp"},
}


def test_launches_go_on_until_a_gain_is_decided_and_no_longer() -> None:
    """The speedup of `close` is open; that it is faster than `clear` is not."""
    decided = decision_of(plan_of(measure={"gains": [PAIR]}), 3)
    assert {c.settled for c in decided.comparisons} == {"decided"}
    assert {c.workload: c.verdict for c in decided.comparisons} == {
        "clear": "negative_scaling",
        "close": "undecided",
    }
    assert not decided.needed
    gain = decided.comparisons[0]
    assert gain.gain == pytest.approx(0.33, rel=0.05)
    assert gain.gain_low < gain.gain < gain.gain_high < 1


def test_an_open_gain_is_launched_again_on_both_sides_although_a_speedup_is_decided() -> None:
    """Both scale negatively for certain, and which of them is faster is not known."""
    near = [0.0203, 0.0199, 0.0201, 0.0198, 0.0207, 0.0200]
    plan = plan_of(measure={"gains": [PAIR]})
    decision = decision_of(plan, 3, close=near)
    assert {c.verdict for c in decision.comparisons} == {"negative_scaling"}
    assert {c.settled for c in decision.comparisons} == {"no"}
    assert {plan.runs[run].workload for run in decision.needed} == {"clear", "close"}
    known = decision_of(plan_of(measure={"gains": [PAIR], "half_width": 0.2}), 3, close=near)
    assert {c.settled for c in known.comparisons} == {"precise"}


def test_a_gain_with_a_side_that_failed_is_not_launched_again() -> None:
    decision = decision_of(plan_of(measure={"gains": [PAIR]}), 3, close=["oom"] * 3 + CLOSE[3:])
    assert {c.settled for c in decision.comparisons} == {"failed"}
    assert not decision.needed


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        ({"until": "precise", "gains": [PAIR]}, "measure.gains: needs `until: decided`; leave out one of them"),
        (
            {"gains": [PAIR | {"after": {"workload": "other", "variant": "ddp"}}]},
            "measure.gains.0.after.workload: the study has no 'other'; it has clear, close",
        ),
        (
            {"gains": [PAIR | {"after": {"workload": "clear", "variant": "single"}}]},
            "measure.gains.0.after.variant: 'single' is one process",
        ),
    ],
)
def test_a_gain_of_what_is_not_in_the_study_is_refused(measure: dict[str, Any], says: str) -> None:
    with pytest.raises(RefusedStudyError) as refused:
        plan_of(measure=measure)
    assert says in str(refused.value)
