"""The instrument on real runs of a study without epochs: stopping, reserve, probes, memory, traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import make_checkout, tiny_study
from scalestudy.analyse.communication.probes import communication_of
from scalestudy.record.observation import PROBE_PHASES
from scalestudy.record.tables import Observation, read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.train.probes.rounds import FEWEST_STEPS


def study_of_step_times() -> dict[str, Any]:
    """One workload without epochs, runs in reserve that will not be needed, and a trace."""
    study = tiny_study()
    study["workloads"] = {"first": study["workloads"]["first"] | {"epochs": 0}}
    study["variants"]["ddp"] |= {"log_every_steps": 5, "checkpoint_every_steps": 10}
    return study | {
        "repeats": 3,
        "max_repeats": 4,
        "host": {"device": "cpu", "start": "fork"},
        "profile": True,
        # At 55 % three runs are known to 99 % also where one of them took several times as long as another.
        "report": {"confidence": 0.55, "overhead_reference": False},
        "measure": {
            "until": "precise",
            "half_width": 0.99,
            "probe_rounds": 2,
            "probe_steps": 5,
            "profile_steps": 2,
        },
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_checkout(tmp_path_factory.mktemp("measured") / "checkout")
    made.configure(study_of_step_times())
    made.run("snakemake", "results/tiny/performance_report.txt")
    return made.root / "results/tiny"


@pytest.fixture(scope="module")
def observations(results: Path) -> dict[tuple[int, int], Observation]:
    """Observations by world size and repeat."""
    found = [read_observation(path.parent) for path in results.glob("runs/*/run.json")]
    return {(o.record.spec.world_size, o.record.spec.repeat): o for o in found}


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_launch_without_epochs_stops_by_its_rule(
    observations: dict[tuple[int, int], Observation], world_size: int
) -> None:
    record = observations[world_size, 1].record
    assert record.outcome == "ok", record.reason
    assert record.stopping is not None
    assert record.stopping.reason.startswith("goal reached: step time known to ±")
    assert record.stopping.steps < 200
    assert record.stopping.steps - record.stopping.warmup_steps >= record.spec.measure.min_steps
    assert observations[world_size, 1].epochs.empty


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_launch_in_reserve_that_is_not_needed_says_why(
    observations: dict[tuple[int, int], Observation], world_size: int
) -> None:
    record = observations[world_size, 4].record
    assert record.outcome == "unneeded"
    assert record.reason.startswith("step time known to ±")
    assert record.reason.endswith("after 3 runs (goal ±99.00 %): 3 runs are enough")
    assert observations[world_size, 4].steps.empty


def test_the_study_counts_what_was_launched(results: Path) -> None:
    summary = pd.read_csv(results / "comprehensive_summary.csv")
    assert (summary["launches"] == 3).all()
    assert (summary[["launches", "launches_ok"]] == 3).all(axis=None)
    assert (summary["stopped_because"] == "target_reached").all()
    text = (results / "performance_report.txt").read_text()
    assert "6 runs (2 in reserve were not needed): 6 ok." in text


@pytest.mark.slow
def test_a_launch_in_reserve_is_made_where_the_others_scatter(results: Path, tmp_path: Path) -> None:
    """The same runs, with a target that none of them reaches."""
    study = study_of_step_times()
    study["scales"], study["measure"]["half_width"] = ["1x2"], 1e-5
    del study["profile"], study["measure"]["profile_steps"]
    checkout = make_checkout(tmp_path / "checkout")
    checkout.configure(study)
    runs = make_plan(parse_study(study, source="x")).runs
    alone = next(name for name, spec in runs.items() if spec.world_size == 1 and spec.repeat == 4)
    checkout.run("snakemake", f"results/tiny/runs/{alone}/run.sha256")
    record = read_observation(checkout.root / "results/tiny/runs" / alone).record
    assert record.outcome == "ok"
    assert record.stopping is not None
    assert record.stopping.reason.startswith("stopped at the limit of 200 steady steps")


def test_probes_are_recorded_and_compared(observations: dict[tuple[int, int], Observation]) -> None:
    observation = observations[2, 1]
    counts = observation.steps.groupby("phase")["step"].nunique()
    assert all(2 * FEWEST_STEPS <= counts[phase] <= 2 * 5 for phase in PROBE_PHASES), "fewer where steps are long"
    assert counts["probe-sync"] == counts["probe-no-sync"] == counts["probe-logger"]
    assert counts["probe-arrival"] == counts["probe-arrival-no-sync"]
    logger = observation.steps[observation.steps["phase"] == "probe-logger"]
    known = logger.groupby(["block", "rank"])["communication_span_s"].agg(["count", "size"])
    assert (known["count"] == known["size"] - 1).all(), "the last is not known"
    assert (logger["communication_overlap_s"].dropna() <= logger["communication_span_s"].dropna()).all()
    row = communication_of(observation, confidence=0.95)
    together = row["exposed_span_s"] + row["interference_s"] + row["remainder_s"]
    assert together == pytest.approx(row["differential_s"])
    assert row["methods"]
    assert observations[1, 1].buckets.empty


def test_buckets_hold_all_gradients_of_every_step(observations: dict[tuple[int, int], Observation]) -> None:
    buckets, record = observations[2, 1].buckets, observations[2, 1].record
    assert (buckets.groupby(["rank", "step"])["bytes"].sum() == record.totals.gradient_bytes).all()
    assert (buckets["done_s"] > buckets["ready_s"]).all()
    steps = observations[2, 1].steps
    assert set(buckets["step"]) == set(steps.loc[steps["phase"] == "probe-arrival", "step"])


def test_collectives_are_timed_at_the_size_of_the_buckets(
    observations: dict[tuple[int, int], Observation],
) -> None:
    calls, buckets = observations[2, 1].collectives, observations[2, 1].buckets
    assert set(calls["collective"]) == {"all-reduce", "all-gather", "reduce-scatter"}
    sizes = set(calls["bytes"])
    assert all(size // 8 * 8 in sizes for size in buckets["bytes"]), "in whole float32 for every rank"
    assert (calls["time_s"] > 0).all()
    assert (calls.groupby(["collective", "bytes"])["rank"].nunique() == 2).all()


def test_logging_and_checkpoints_take_their_own_time(observations: dict[tuple[int, int], Observation]) -> None:
    steps = observations[2, 1].steps
    mine = steps[(steps["rank"] == 0) & (steps["phase"] == "measured")]
    saved = (mine["step"] + 1) % 10 == 0
    assert mine.loc[saved, "checkpoint_time_s"].min() > 10 * mine.loc[~saved, "checkpoint_time_s"].median()
    logged = (mine["step"] + 1) % 5 == 0
    assert mine.loc[logged, "logging_time_s"].median() > 3 * mine.loc[~logged, "logging_time_s"].median()
    assert not list(results_of(observations).glob("checkpoint*")), "a checkpoint is no part of an observation"
    probes = steps[steps["phase"].isin(PROBE_PHASES)]
    assert (probes[["logging_time_s", "checkpoint_time_s"]] == 0).all(axis=None)


def results_of(observations: dict[tuple[int, int], Observation]) -> Path:
    return Path("runs") / observations[2, 1].record.run_id


def test_memory_has_a_peak_and_a_mean(observations: dict[tuple[int, int], Observation]) -> None:
    for rank in observations[2, 1].record.ranks:
        assert 0.05 < rank.memory.mean_resident_gib <= rank.memory.peak_resident_gib
        assert rank.memory.allocation_retries is None
    training = observations[2, 1].blocks.query("phase == 'measured'")
    assert training["resident_gib"].notna().all()


def test_the_first_launch_alone_is_traced(results: Path, observations: dict[tuple[int, int], Observation]) -> None:
    traced = observations[2, 1].record
    names = [name for name in traced.files if name.endswith(".pt.trace.json.gz")]
    assert names == ["trace-rank0.pt.trace.json.gz", "trace-rank1.pt.trace.json.gz"]
    assert not [name for name in observations[2, 2].record.files if "trace" in name]
    traces = json.loads((results / "traces.json").read_text())["traces"]
    summaries = {item["world_size"]: item["summary"] for item in traces}
    assert set(summaries) == {1, 2}
    assert summaries[1]["steps"] == summaries[2]["steps"] == 2
    assert [item["name"] for item in summaries[2]["collectives"]] == ["gloo:all_reduce"]
    assert summaries[1]["collectives"] == []
    assert "TRACES\n------" in (results / "performance_report.txt").read_text()
