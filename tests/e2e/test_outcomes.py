"""Runs that do not end well: each is a whole record with its word and reason, or leaves nothing at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import BIN, Checkout, handlers_kept, tiny_study
from scalestudy.cli.main import main
from scalestudy.launch import process
from scalestudy.record.observation import RunRecord, read_record
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan


def variation(**changes: Any) -> dict[str, Any]:
    """The tiny study with one workload, changed at its top level or (epochs, learning_rate) in the workload."""
    study = tiny_study()
    del study["workloads"]["second"]
    workload = study["workloads"]["first"]
    workload["epochs"] = changes.pop("epochs", workload["epochs"])
    workload["optimizer"]["learning_rate"] = changes.pop("learning_rate", 0.05)
    return study | changes


def run_id(study: dict[str, Any], world_size: int) -> str:
    runs = make_plan(parse_study(study, source="x")).runs
    return next(name for name, spec in runs.items() if spec.world_size == world_size)


def train(checkout: Checkout, study: dict[str, Any], world_size: int) -> RunRecord:
    """Launch one run of the study by hand and read its record."""
    checkout.configure(study)
    name = run_id(study, world_size)
    checkout.run("scalestudy", "stage", "train", "--run", name)
    assert not any((checkout.root / "results/tiny/runs/.partial").glob("*/")), "nothing half written stays"
    return read_record(checkout.root / "results/tiny/runs" / name)


@pytest.mark.slow
@pytest.mark.fault(
    fault="a loss that is not a number",
    moment="block",
    outcome="diverged",
    kept="a record with the step and the rank, and the measurements so far",
    next_call="keeps the record and measures nothing",
)
def test_a_loss_that_is_no_number_is_diverged_and_the_study_still_ends_in_a_report(checkout: Checkout) -> None:
    study = variation(learning_rate=1e4)
    study["workloads"]["first"]["model"]["num_layers"] = 4
    checkout.configure(study)
    checkout.run("snakemake", "results/tiny/performance_report.txt", "results/tiny/tables/summary_table.tex")
    results = checkout.root / "results/tiny"
    record = read_record(results / "runs" / run_id(study, 2))
    assert record.outcome == "diverged"
    assert "loss is nan at step" in record.reason or "loss is inf at step" in record.reason
    assert "on rank" in record.reason
    assert record.log_tail
    text = (results / "performance_report.txt").read_text()
    assert "NOT MEASURED" in text
    assert "2 runs: 2 diverged." in text
    assert "FAILED RUNS" in text
    assert "diverged" in (results / "tables/summary_table.tex").read_text()


def test_a_time_limit_keeps_what_was_measured(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher's clock advances by half an hour as soon as there is something to keep."""
    checkout.configure(study := variation(epochs=5000, time_limit_min=30))
    runs, name = checkout.root / "results/tiny/runs", run_id(study, 2)
    progress = runs / ".partial" / name / "progress.json"
    clock = SimpleNamespace(sleep=time.sleep, monotonic=lambda: time.monotonic() + 1800 * progress.exists())
    monkeypatch.setattr(process, "time", clock)
    monkeypatch.chdir(checkout.root)
    with handlers_kept():
        assert main(["train", "--run", name]) == 0
    observation = read_observation(runs / name)
    assert observation.record.outcome == "timeout"
    assert observation.record.reason.startswith("time limit of 30 min reached after ")
    assert len(observation.steps) == sum(rank.steps for rank in observation.record.ranks) > 0


@pytest.mark.slow  # tests/workflow/test_dry_runs.py refuses such a study
def test_ranks_without_cores_of_their_own_are_refused_in_words(checkout: Checkout) -> None:
    record = train(checkout, variation(host={"device": "cpu", "cores_per_rank": 64}), 2)
    assert record.outcome == "failed"
    assert record.reason.startswith("2 ranks x 64 cores need 128 cores on this host; this job may use")


@pytest.mark.slow
def test_failed_runs_make_the_summary_fail_and_can_be_repeated(checkout: Checkout) -> None:
    checkout.configure(study := variation(host={"device": "cuda"}))
    checkout.run("snakemake", "results/tiny/numbers.json")
    record = read_record(checkout.root / "results/tiny/runs" / run_id(study, 1))
    assert record.outcome == "failed"
    assert record.reason.startswith("host.device is cuda, but no CUDA device is visible to this job")
    summary = checkout.run("scalestudy", "summary", check=False)
    assert summary.returncode == 1
    assert "2 runs failed: host.device is cuda, but no CUDA device is visible to this job" in summary.stdout
    retry = checkout.run("scalestudy", "retry", "results/tiny")
    assert "2 of 2 runs set aside" in retry.stdout
    assert len(list(checkout.root.glob("results/tiny/superseded/*/run.json"))) == 2
    assert "train_baseline" in checkout.run("snakemake", "-n").stdout


def test_a_terminal_shows_a_bar(checkout: Checkout) -> None:
    study = variation(epochs=20)
    checkout.configure(study)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    shown_by = subprocess.Popen(
        [str(BIN / "scalestudy"), "stage", "train", "--run", run_id(study, 1)],
        cwd=checkout.root,
        env=checkout.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal hangs up when its last writer is gone
        while chunk := os.read(ours, 4096):
            shown += chunk
    os.close(ours)
    assert shown_by.wait(timeout=60) == 0
    assert b"/880 [" in shown  # 44 steps in each of 20 epochs
    assert b"step/s" in shown
