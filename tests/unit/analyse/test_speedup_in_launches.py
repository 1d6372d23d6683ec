"""A point has two speedups, over runs of its baseline and within its own runs; the study sets which
one counts."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import results_of, rows_book, study_of
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import mean_on_logs
from scalestudy.analyse.study.decision import decide
from scalestudy.analyse.study.outlook import outlook
from scalestudy.publish.views.facts import study_view
from scalestudy.publish.views.rows import notes_view, rows_view
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

BASE = [0.0100, 0.0120, 0.0090]
MINE = [0.0070, 0.0078, 0.0066]
OWN = [1.50, 1.52, 1.51]


def plan_of(within: str = "launches", **changes: Any) -> Plan:
    measure = {"alternating_rounds": 6, "speedup_within": within}
    workloads = {"mlp": mlp_workload(scaling=["strong"])}
    content = small_content(repeats=3, max_repeats=6, workloads=workloads, measure=measure) | changes
    return make_plan(parse_study(content, source="x"))


def runs_of(plan: Plan, own: list[float], turns: str = "made") -> pd.DataFrame:
    """Three repeats, with these speedups within the runs of two ranks."""
    padded = {1: [*BASE, *BASE], 2: [*MINE, *MINE]}
    runs = study_of(plan, {("mlp", ranks, batch): padded[ranks] for ranks, batch in ((1, 32), (1, 16), (2, 16))})
    runs = runs[runs["repeat"] <= 3].copy()
    mine = runs["world_size"] == 2
    runs.loc[mine, "turns"] = turns
    runs.loc[mine, "speedup_in_launch"] = runs.loc[mine, "repeat"].map(dict(enumerate(own, start=1)))
    return runs


def row_of(summary: pd.DataFrame) -> pd.Series:
    return summary[summary["world_size"] == 2].iloc[0]


def test_the_study_says_which_speedup_counts_and_both_are_reported() -> None:
    rows = {
        within: row_of(summary_frame(plan, runs_of(plan, OWN)))
        for within in ("launches", "repeats")
        for plan in [plan_of(within)]
    }
    level = plan_of().study.level
    own = mean_on_logs(OWN, confidence=level)
    assert rows["launches"][["speedup", "speedup_low", "speedup_high"]].tolist() == pytest.approx(
        [own.value, own.low, own.high]
    )
    assert rows["launches"]["efficiency"] == pytest.approx(own.value / 2)
    assert rows["launches"]["interval"] == "t_within_launches"
    in_repeats = float(np.exp(np.mean(np.log(BASE) - np.log(MINE))))
    assert rows["repeats"]["speedup"] == pytest.approx(in_repeats)
    assert rows["repeats"]["interval"] == "t_within_repeats"
    for row in rows.values():
        assert row["speedup_in_launches"] == pytest.approx(own.value)
        assert row["speedup_in_repeats"] == pytest.approx(in_repeats)
        assert row["estimator_ratio"] == pytest.approx(own.value / in_repeats)


def test_without_turns_the_speedup_is_that_of_launches_whatever_the_study_asks_for() -> None:
    plan = plan_of()
    row = row_of(summary_frame(plan, runs_of(plan, [], turns="no_memory")))
    assert row["interval"] == "t_within_repeats"
    assert row["repeats_compared"] == 3
    assert isnan(row["speedup_in_launches"]) and isnan(row["speedup_in_repeats"])
    assert row["launches_without_turns"] == 3


def test_a_launch_without_turns_is_no_part_of_the_speedup_within_launches() -> None:
    plan = plan_of()
    row = row_of(summary_frame(plan, runs_of(plan, [1.50, 1.52])))
    assert row["repeats_compared"] == 2
    assert row["speedup"] == pytest.approx((1.50 * 1.52) ** 0.5)


@pytest.mark.parametrize(
    ("turns", "speedup", "said"),
    [
        (["made", "contended", "made"], (1.50 * 1.51) ** 0.5, "1 run; the speedup excludes these"),
        (["made", "contended", "contended"], (1.50 * 0.90 * 1.51) ** (1 / 3), "2 runs; too few were quiet"),
    ],
)
def test_a_launch_without_a_quiet_round_counts_where_there_are_too_few_others(
    turns: list[str], speedup: float, said: str
) -> None:
    plan = plan_of()
    runs = runs_of(plan, [1.50, 0.90, 1.51])
    mine = runs["world_size"] == 2
    runs.loc[mine, "turns"] = runs.loc[mine, "repeat"].map(dict(enumerate(turns, start=1)))
    summary = summary_frame(plan, runs)
    row = row_of(summary)
    assert row["speedup"] == pytest.approx(speedup)
    assert row["launches_contended"] == turns.count("contended")
    assert any(said in note for note in notes_view(rows_book(summary), "mlp.ddp.strong.n2", row))


def test_only_launches_that_make_the_speedup_are_made_again() -> None:
    """Its own, where each has a speedup; with runs of the baseline where the study is judged by those."""
    found = {}
    for within in ("launches", "repeats"):
        plan = plan_of(within, report={"target_efficiency": 0.755, "target_margin": 0})
        runs = runs_of(plan, OWN)
        decision = decide(plan, runs, summary_frame(plan, runs), after=3)
        assert [comparison.settled for comparison in decision.comparisons] == ["no"]
        found[within] = {plan.runs[run].variant for run in decision.needed}
    assert found == {"launches": {"ddp"}, "repeats": {"ddp", "single"}}


def test_a_budget_does_not_take_the_base_case_out_of_the_repeats_that_every_study_makes() -> None:
    """With a budget it is looked after the first repeat too. A baseline with one run would have no limits."""
    measure = {"alternating_rounds": 6, "speedup_within": "launches", "budget_device_hours": 10}
    plan = plan_of(measure=measure)
    assert plan.study.decisions[0] == 1
    runs = runs_of(plan, OWN)
    runs = runs[runs["repeat"] == 1]
    decision = decide(plan, runs, summary_frame(plan, runs), after=1)
    made_anyhow = {run for run, spec in plan.runs.items() if 1 < spec.repeat <= plan.study.repeats}
    assert set(decision.needed) == made_anyhow
    assert {plan.runs[run].variant for run in decision.needed} == {"ddp", "single"}
    whole = runs_of(plan, OWN)
    base = summary_frame(plan, whole).query("is_base").iloc[0]
    assert base["launches_ok"] == 3
    assert base["step_time_s_low"] < base["step_time_s"] < base["step_time_s_high"]


def test_fewer_launches_are_expected_where_the_base_case_is_in_them() -> None:
    expected = {
        within: outlook(plan_of(within), (), after=0, device_s={}).launches for within in ("launches", "repeats")
    }
    assert expected["launches"].high < expected["repeats"].high
    assert expected["launches"].low >= 9, "three configurations, three launches each, are made anyhow"


def test_documents_say_both_and_that_they_differ() -> None:
    plan = plan_of()
    for own, differ in ((OWN, False), ([0.90, 0.91, 0.89], True)):
        runs = runs_of(plan, own)
        summary = summary_frame(plan, runs)
        row, book = row_of(summary), rows_book(summary)
        notes = " ".join(notes_view(book, "mlp.ddp.strong.n2", row))
        assert ("separate processes have other memory, cores or clocks" in notes) == differ
        (said,) = [
            view["speedups"] for view in rows_view(plan, summary, book) if view["key"] == "mlp.ddp.strong.n2"
        ]
        assert " within runs, " in said and said.endswith(" relative to separate runs of the baseline")
        assert (
            "the baseline and the ranks take turns in the same processes" in study_view(plan, summary)["intervals"]
        )
    assert results_of(plan, runs, summary).findings


def test_cores_of_a_rank_are_those_that_hosts_gave_where_the_study_names_none() -> None:
    for host, threads, said in (
        ({"device": "cuda", "cores_per_rank": 4}, [8.0], "4 CPU cores"),
        ({"device": "cuda"}, [8.0], "8 CPU cores"),
        ({"device": "cuda"}, [8.0, 6.0], "6 to 8 CPU cores"),
        ({"device": "cuda"}, [nan], "an unknown number of CPU cores"),
    ):
        plan = plan_of(host=host)
        summary = summary_frame(plan, runs_of(plan, OWN))
        summary["threads_per_rank"] = [threads[row % len(threads)] for row in range(len(summary))]
        assert study_view(plan, summary)["cores"] == said


def test_a_point_that_never_had_memory_for_turns_is_not_launched_again() -> None:
    """Its baseline has no further runs to compare it with, and more of its own would have no turns either."""
    plan = plan_of(report={"target_efficiency": 0.755, "target_margin": 0})
    runs = runs_of(plan, [], turns="no_memory")
    decision = decide(plan, runs, summary_frame(plan, runs), after=3)
    assert [comparison.settled for comparison in decision.comparisons] == ["failed"]
    assert decision.needed == ()
