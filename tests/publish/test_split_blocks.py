"""Launches of a repeat that ran in two jobs, on two nodes or on two days end in a sentence, and only they."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from builders import observation, page_of, printed_of, results_of, runs_of
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.tables import Observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import RunSpec

STEP_S = {("single", 32): 0.010, ("single", 16): 0.006, ("ddp", 16): 0.008}
HERE = {"job": "7", "node": "node1", "started_at": "2026-01-01T00:00:00+00:00"}


@pytest.fixture
def plan() -> Plan:
    content = small_content(repeats=3, workloads={"mlp": mlp_workload(scaling=["strong"])})
    return make_plan(parse_study(content, source="x"))


def recorded(spec: RunSpec, *, job: str, node: str, started_at: str) -> Observation:
    """A run with a step time that depends on its repeat, made in this job, on this node, at this time."""
    step_s = STEP_S[spec.variant, spec.batch_per_rank] * (1 + 0.01 * spec.repeat)
    made = observation(spec, [[step_s] * 40] * spec.world_size, environment={"slurm_job_id": job})
    ranks = tuple(rank.model_copy(update={"node": node}) for rank in made.record.ranks)
    record = made.record.model_copy(update={"ranks": ranks, "started_at": started_at})
    return replace(made, record=record)


def documents(plan: Plan, ddp: dict[int, dict[str, str]]) -> tuple[pd.DataFrame, str, str]:
    """(summary, text report, page). ddp: by repeat, what differs for its launch of two ranks."""
    runs = runs_of(
        plan.study,
        [
            recorded(spec, **(HERE | (ddp.get(spec.repeat, {}) if spec.variant == "ddp" else {})))
            for spec in plan.runs.values()
        ],
    )
    summary = summary_frame(plan, runs)
    results = results_of(plan, runs, summary)
    text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    return summary, " ".join(text.split()), " ".join(page_of(plan, results).split())


OF_THE_TWO = "the runs of this point and of its baseline were"
SAID: list[tuple[dict[int, dict[str, str]], str]] = [
    ({2: {"job": "8"}}, f"in 1 of 3 repeats {OF_THE_TWO} in different SLURM jobs; drift"),
    (
        {1: {"job": "8", "node": "node2"}, 3: {"job": "8", "node": "node2"}},
        f"in 2 of 3 repeats {OF_THE_TWO} in different SLURM jobs, on different nodes; drift",
    ),
    (
        {1: {"job": "8"}, 2: {"job": "8", "node": "node2"}},
        f"in 2 of 3 repeats {OF_THE_TWO} in different SLURM jobs, on different nodes (1); drift",
    ),
    (
        {3: {"started_at": "2026-01-03T00:00:00+00:00"}},
        f"in 1 of 3 repeats {OF_THE_TWO} more than a day apart; drift",
    ),
]


@pytest.mark.parametrize(("ddp", "said"), SAID)
def test_launches_that_ran_apart_are_said_to_have(plan: Plan, ddp: dict[int, Any], said: str) -> None:
    summary, text, page = documents(plan, ddp)
    assert f"NOTE: {said} between them does not cancel" in text
    assert "does not cancel" in page
    assert summary.loc[summary["variant"] == "ddp", "repeats_apart"].tolist() == [len(ddp)]
    assert not summary.loc[summary["variant"] == "single", "repeats_apart"].any()


def test_launches_of_whole_repeats_in_jobs_of_their_own_are_together(plan: Plan) -> None:
    """Every repeat in another job, on another node, days later: what differs is common to both sides."""
    places = {
        repeat: {"job": str(repeat), "node": f"node{repeat}", "started_at": f"2026-01-0{repeat}T00:00:00+00:00"}
        for repeat in (1, 2, 3)
    }
    runs = runs_of(plan.study, [recorded(spec, **places[spec.repeat]) for spec in plan.runs.values()])
    summary = summary_frame(plan, runs)
    assert not summary["repeats_apart"].any()
    results = results_of(plan, runs, summary)
    assert "does not cancel" not in render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    assert "does not cancel" not in page_of(plan, results)


def test_device_hours_of_idle_devices_are_told_where_there_are_any(plan: Plan) -> None:
    """Six runs of one rank and three of two, 2 s each, in a job of two devices: 36 device-seconds, 12 idle."""
    for held, said in ((2, r"0\.010* device-hours, including 0\.003\d* of idle devices"), (None, "")):
        runs = runs_of(plan.study, [recorded(spec, **HERE) for spec in plan.runs.values()])
        runs["held_devices"] = float("nan") if held is None else held
        results = results_of(plan, runs, summary_frame(plan, runs))
        text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
        for document in (text, page_of(plan, results)):
            assert ("of idle devices" in document) == bool(said)
        assert re.search(said, " ".join(text.split()))
