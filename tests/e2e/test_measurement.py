"""The instrument against a clock of the tests' own: parts of a step, and a rank that is late."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from math import nan
from pathlib import Path

import pandas as pd
import pytest
import slow_rank
from builders import observation as made_up
from builders import rows_book
from conftest import tiny_study
from launches import trainer_of
from scalestudy.analyse.communication.arrivals import late_rank
from scalestudy.analyse.communication.probes import communication_of
from scalestudy.analyse.run.steps import measured
from scalestudy.launch.command import rank_command, rank_environment
from scalestudy.publish.views.rows import notes_view
from scalestudy.record.parts import read_parts
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import LateBy
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

pytestmark = pytest.mark.alone


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
    """A run of two ranks, the second of which sleeps 200 ms in every backward pass."""
    study = tiny_study()
    study["workloads"]["first"] |= {"batch_size": 718, "epochs": 3}
    study["measure"] = {"warmup_steps": 1, "probe_rounds": 2, "probe_steps": 3, "block_steps": 2}
    specs = make_plan(parse_study(study, source="x")).runs.values()
    spec = next(s for s in specs if s.workload == "first" and s.world_size == 2)
    directory = tmp_path_factory.mktemp("slowed")
    return run_with(Path(slow_rank.__file__), spec, directory)


def run_with(script: Path, spec: RunSpec, directory: Path) -> Observation:
    """The run of a spec, with a script in the place of `-m scalestudy.train`."""
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
    return Observation(record, parts.tables, pd.DataFrame(parts.epochs))


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
    row |= {
        "is_base": False,
        "late_by": LateBy.BUCKETS,
        "launches_unsteady": 0,
        "launches_left_out": 0,
        "launches_growing": 0,
        "launches_without_turns": 0,
        "launches_contended": 0,
        "repeats_compared": 0,
        "interval": "none",
        "estimator_ratio_low": nan,
        "estimator_ratio_high": nan,
        "estimator_ratio": nan,
        "repeats_apart": 0,
        "allocation_retries": nan,
        "lateness_s_low": nan,
    }
    row |= {"workload": "mlp", "variant": "ddp", "nodes": 1, "launches_ok": 1}
    row |= {"late_share": row["late_share"], "lateness_share": row["lateness_s"] / row["step_time_s"]}
    book = rows_book(pd.DataFrame([row]))
    notes = notes_view(book, "mlp.ddp.strong.n2", pd.Series(row))
    assert any(
        note.startswith("rank 1 is late: its gradients were last in 100 % of the buckets") for note in notes
    )
