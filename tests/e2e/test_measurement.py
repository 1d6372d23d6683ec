"""The instrument on real launches: stopping, reserve, probes, parts of a step, traces, and a rank that is late."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import slow_rank
from builders import observation as made_up
from builders import rows_book
from conftest import make_checkout, tiny_study
from launches import trainer_of
from scalestudy.analyse.communication.arrivals import late_rank
from scalestudy.analyse.communication.probes import communication_of
from scalestudy.analyse.run.steps import measured
from scalestudy.launch.command import rank_command, rank_environment
from scalestudy.publish.measured import notes_view
from scalestudy.record.observation import PROBE_PHASES, Observation, read_observation
from scalestudy.record.parts import read_parts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

pytestmark = pytest.mark.alone


def study_of_step_times() -> dict[str, Any]:
    """One workload without epochs, launches in reserve that will not be needed, and a trace."""
    study = tiny_study()
    study["workloads"] = {"first": study["workloads"]["first"] | {"epochs": 0}}
    study["variants"]["ddp"] |= {"log_every_steps": 5, "checkpoint_every_steps": 10}
    return study | {
        "repeats": 2,
        "max_repeats": 3,
        "profile": True,
        # At 60 % two launches are known to 99 % on any machine.
        "report": {"confidence": 0.6, "overhead_reference": False},
        "measure": {"half_width": 0.99, "probe_rounds": 2, "probe_steps": 5, "profile_steps": 2},
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
    assert record.stopping.reason.startswith("target reached: half-width ")
    assert record.stopping.steps < 200
    assert record.stopping.steps - record.stopping.warmup_steps >= record.spec.measure.min_steps
    assert observations[world_size, 1].epochs.empty


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_launch_in_reserve_that_is_not_needed_says_why(
    observations: dict[tuple[int, int], Observation], world_size: int
) -> None:
    record = observations[world_size, 3].record
    assert record.outcome == "unneeded"
    assert record.reason.startswith("half-width ")
    assert record.reason.endswith("after 2 launches, target 99.00%: 2 are enough")
    assert observations[world_size, 3].steps.empty


def test_the_study_counts_what_was_launched(results: Path) -> None:
    summary = pd.read_csv(results / "comprehensive_summary.csv")
    assert (summary["launches"] == 2).all()
    assert (summary["outcomes"] == "2 ok").all()
    assert summary["stopped_because"].str.startswith("target reached: half-width").all()
    text = (results / "performance_report.txt").read_text()
    assert "4 launches (2 in reserve were not needed): 4 ok." in text


def test_a_launch_in_reserve_is_made_where_the_others_scatter(results: Path, tmp_path: Path) -> None:
    """The same runs, held to a target that nothing reaches."""
    study = study_of_step_times() | {"measure": study_of_step_times()["measure"] | {"half_width": 1e-6}}
    study["scales"], study["profile"] = ["1x2"], False
    checkout = make_checkout(tmp_path / "checkout")
    checkout.configure(study)
    runs = make_plan(parse_study(study, source="x")).runs
    alone = next(name for name, spec in runs.items() if spec.world_size == 1 and spec.repeat == 3)
    checkout.run("snakemake", f"results/tiny/runs/{alone}/run.sha256")
    record = read_observation(checkout.root / "results/tiny/runs" / alone).record
    assert record.outcome == "ok"
    assert record.stopping is not None
    assert record.stopping.reason.startswith("budget of 200 steady steps ended")


def test_probes_are_recorded_and_compared(observations: dict[tuple[int, int], Observation]) -> None:
    observation = observations[2, 1]
    counts = observation.steps.groupby("phase")["step"].nunique()
    assert {phase: counts[phase] for phase in PROBE_PHASES} == dict.fromkeys(PROBE_PHASES, 2 * 5)
    logger = observation.steps[observation.steps["phase"] == "probe-logger"]
    assert logger.groupby(["block", "rank"])["communication_span_s"].count().eq(4).all(), "the last is not known"
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
    assert buckets["step"].nunique() == 2 * 5


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
    summaries = {item["world_size"]: item["summary"] for item in json.loads((results / "traces.json").read_text())}
    assert set(summaries) == {1, 2}
    assert summaries[1]["steps"] == summaries[2]["steps"] == 2
    assert [item["name"] for item in summaries[2]["collectives"]] == ["gloo:all_reduce"]
    assert summaries[1]["collectives"] == []
    assert "TRACES\n------" in (results / "performance_report.txt").read_text()


def test_a_block_takes_as_long_as_its_parts(tmp_path: Path) -> None:
    """Against a clock of the test's own, around the block: within 1 %."""
    study = tiny_study()
    study["workloads"]["first"] |= {"model": {"type": "convnet"}, "batch_size": 128}
    plan = make_plan(parse_study(study, source="x"))
    spec = next(s for s in plan.runs.values() if s.workload == "first" and s.world_size == 1)
    trainer = trainer_of(spec, tmp_path)
    batches = trainer.open_epoch(1)
    trainer.stepper.run_block(batches[:2])
    begin = time.monotonic()
    times, _ = trainer.stepper.run_block(batches)
    wall_s = time.monotonic() - begin
    assert times.sum() == pytest.approx(wall_s, rel=0.01)
    assert (times >= 0).all()


@pytest.fixture(scope="module")
def slowed(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    """A launch of two ranks, the second of which sleeps 200 ms in every backward pass."""
    study = tiny_study()
    study["workloads"]["first"] |= {"batch_size": 718, "epochs": 3}
    study["measure"] = {"warmup_steps": 1, "probe_rounds": 2, "probe_steps": 3, "block_steps": 2}
    specs = make_plan(parse_study(study, source="x")).runs.values()
    spec = next(s for s in specs if s.workload == "first" and s.world_size == 2)
    directory = tmp_path_factory.mktemp("slowed")
    return run_with(Path(slow_rank.__file__), spec, directory)


def run_with(script: Path, spec: RunSpec, directory: Path) -> Observation:
    """The launch of a spec, with a script in the place of `-m scalestudy.train`."""
    (directory / "spec.json").write_text(spec.to_json())
    command = rank_command(spec, directory, directory)
    at = command.index("scalestudy.train")
    command[at - 1 : at + 1] = [str(script)]
    environment = rank_environment(spec) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = read_parts(directory, world_size=spec.world_size)
    made = json.loads((directory / "rank-0.json").read_text())
    assert made["report"]["outcome"] == "ok"
    record = made_up(spec, [[1.0]] * spec.world_size).record
    return Observation(record=record, epochs=parts.epochs, **parts.tables)


def test_step_times_cannot_tell_who_is_slow(slowed: Observation) -> None:
    training = slowed.steps[slowed.steps["phase"] == "measured"]
    by_rank = training.groupby("rank")["step_time_s"].mean()
    assert by_rank[0] == pytest.approx(by_rank[1], rel=0.1)
    assert by_rank.min() > slow_rank.SLEEP_S


def test_the_late_rank_is_named_by_its_gradients(slowed: Observation) -> None:
    found = late_rank(slowed.buckets)
    assert found["late_rank"] == 1
    assert found["late_share"] == 1.0
    assert found["lateness_s"] == pytest.approx(slow_rank.SLEEP_S, rel=0.1)
    communication = communication_of(slowed, confidence=0.95)
    assert communication["wait_time_s"] == pytest.approx(slow_rank.SLEEP_S / 2, rel=0.2), "mean over ranks"
    assert communication["transfer_time_s"] < 0.1 * slow_rank.SLEEP_S


def test_the_report_names_the_late_rank(slowed: Observation) -> None:
    row = measured(slowed, confidence=0.95) | communication_of(slowed, confidence=0.95) | late_rank(slowed.buckets)
    row |= slowed.record.spec.model_dump() | {"scaling": "strong", "world_size": 2}
    row |= {"unsteady": "", "memory_grows": "", "allocation_retries": nan, "lateness_s_low": nan}  # of one launch
    row |= {"workload": "mlp", "variant": "ddp", "nodes": 1, "launches_ok": 1}
    row |= {"late_share": row["late_share"], "lateness_share": row["lateness_s"] / row["step_time_s"]}
    book = rows_book(pd.DataFrame([row]))
    notes = notes_view(book, "mlp.ddp.strong.n2", pd.Series(row))
    assert any(note.startswith("rank 1 is late: its gradients came last in 100% of the buckets") for note in notes)
