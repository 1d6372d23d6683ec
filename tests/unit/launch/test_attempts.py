"""Launches that were cut off are known of, and recorded by those left behind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import observation
from scalestudy.errors import UserError
from scalestudy.launch.attempt import begin_attempt, earlier_attempts, repeated
from scalestudy.launch.place import put_in_place
from scalestudy.launch.slurm import settle as settling
from scalestudy.launch.slurm.job import Job
from scalestudy.launch.slurm.settle import settle
from scalestudy.launch.unmade import not_made
from scalestudy.record.files import write_text
from scalestudy.record.observation import read_record
from scalestudy.record.parts import complete, vouch
from scalestudy.record.protocol import CURRENT
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    """A run of two ranks."""
    return next(s for s in make_plan(parse_study(content, source="x")).runs.values() if s.world_size == 2)


@pytest.fixture
def cut_off(spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a run in SLURM job 7 left that was killed together with everything around it."""
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    partial = tmp_path / "runs/.partial" / spec.run_id
    partial.mkdir(parents=True)
    begin_attempt(partial, [{"started_at": "before", "end": "cut off"}], "0123abcd")
    write_text(partial / "spec.json", spec.to_json())
    write_text(partial / "log.txt", "epoch 1\n")
    return partial


def states(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setattr(settling, "read_ended_job", lambda job: Job(job, state))


def test_the_next_attempt_tells_of_those_before_it(cut_off: Path, tmp_path: Path) -> None:
    found = earlier_attempts(cut_off, tmp_path / "nowhere")
    assert found[0] == {"started_at": "before", "end": "cut off"}
    assert found[1]["end"].endswith("in SLURM job 7 before it could record anything")
    (warning,) = repeated(found)
    assert warning["text"].startswith("2 earlier attempts; the last, started at ")
    assert repeated([]) == []


def test_a_launch_whose_job_is_over_is_recorded(
    cut_off: Path, spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states(monkeypatch, "NODE_FAIL")
    assert settle(tmp_path) == [f"{spec.run_id}: failed: a node of SLURM job 7 failed after 0 steps"]
    record = read_record(tmp_path / "runs" / spec.run_id)
    assert (record.outcome, record.log_tail) == ("failed", ("epoch 1",))
    assert record.fingerprint == "0123abcd", "of the code that measured, not of the code that records"
    assert record.environment["earlier_attempts"]
    assert (tmp_path / "runs" / spec.run_id / "run.sha256").exists()
    assert not cut_off.exists()
    assert settle(tmp_path) == []


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(
            what,
            marks=pytest.mark.fault(
                fault=f"a {what} at the path of a run whose job was killed",
                moment="publishing",
                outcome="as SLURM reports the end of the job",
                kept=f"what was measured, and the {what} under superseded/",
                next_call="keeps the record and measures nothing",
            ),
        )
        for what in ("file", "folder", "preempted attempt")
    ],
)
def test_what_is_in_the_place_of_a_run_is_set_aside_where_runs_are_settled(
    what: str,
    cut_off: Path,
    spec: RunSpec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As where a run is measured on this host (test_place.py)."""
    states(monkeypatch, "NODE_FAIL")
    final = tmp_path / "runs" / spec.run_id
    if what == "file":
        final.write_text("mine")
    elif what == "folder":
        write_text(final / "notes.txt", "mine")
    else:
        other = tmp_path / "other"
        other.mkdir()
        complete(other, not_made(spec, other, "0" * 12, "preempted", "SLURM job 6 was preempted"))
        put_in_place(other, final, tmp_path)
    assert settle(tmp_path) == [f"{spec.run_id}: failed: a node of SLURM job 7 failed after 0 steps"]
    assert read_record(final).outcome == "failed"
    (aside,) = (tmp_path / "superseded").iterdir()
    if what == "preempted attempt":
        assert json.loads((aside / "run.json").read_text())["reason"] == "SLURM job 6 was preempted"
    else:
        assert (aside if what == "file" else aside / "notes.txt").read_text() == "mine"
    assert (f"{final} is not a run; it was moved to {aside}" in capsys.readouterr().err) == (what == "file")


def test_a_launch_that_was_asked_for_less_is_recorded_as_planned(
    cut_off: Path, spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks of a run in reserve are given another spec where they leave the probes out."""
    states(monkeypatch, "NODE_FAIL")
    write_text(cut_off / "planned.json", spec.to_json())
    write_text(cut_off / "spec.json", spec.without_probes.to_json())
    settle(tmp_path)
    assert read_record(tmp_path / "runs" / spec.run_id).spec == spec


def test_what_an_earlier_release_left_is_recorded_as_of_its_protocol(
    cut_off: Path, spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Release 0.1 noted no protocol of an attempt."""
    states(monkeypatch, "NODE_FAIL")
    attempt = json.loads((cut_off / "attempt.json").read_text())
    assert attempt.pop("protocol") == CURRENT
    write_text(cut_off / "attempt.json", json.dumps(attempt))
    settle(tmp_path)
    assert read_record(tmp_path / "runs" / spec.run_id).protocol == 1


def test_a_launch_that_was_cut_off_before_it_began_leaves_nothing(
    cut_off: Path, spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states(monkeypatch, "NODE_FAIL")
    (cut_off / "spec.json").unlink()
    assert settle(tmp_path) == [f"{spec.run_id}: was cut off before its ranks were started"]
    assert not cut_off.exists()
    assert not (tmp_path / "runs" / spec.run_id).exists()


def test_a_damaged_record_is_named_where_runs_are_settled(cut_off: Path, spec: RunSpec, tmp_path: Path) -> None:
    write_text(tmp_path / "runs" / spec.run_id / "run.json", "{")
    shutil.rmtree(cut_off)
    with pytest.raises(UserError, match=r"run\.json: not a complete run\.json"):
        settle(tmp_path)


@pytest.mark.parametrize("state", ["RUNNING", "PENDING", "SUSPENDED"])
def test_a_launch_whose_job_goes_on_is_left_alone(
    cut_off: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    states(monkeypatch, state)
    assert settle(tmp_path) == []
    assert cut_off.exists()


def test_a_measured_run_is_vouched_for_again(spec: RunSpec, tmp_path: Path) -> None:
    """Snakemake removes the outputs of all runs that shared a job with one that failed."""
    partial = tmp_path / "runs/.partial/x"
    partial.mkdir(parents=True)
    final = tmp_path / "runs" / spec.run_id
    made = observation(spec, [[0.001] * 5] * 2).record
    for name in ("steps", "blocks", "buckets", "collectives"):
        (partial / f"{name}.parquet").touch()
    for name in ("epochs.csv", "log.txt"):
        (partial / name).touch()
    complete(partial, made)
    put_in_place(partial, final, tmp_path)
    before = (final / "run.sha256").read_text()
    (final / "run.sha256").unlink()
    assert len(settle(tmp_path)) == 1
    assert (final / "run.sha256").read_text() == before
    assert not vouch(final, "ok")
