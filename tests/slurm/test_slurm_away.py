"""A run that begins while SLURM's controller is away waits for it, and reports this."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import BIN, handlers_kept, wait_for
from scalestudy.launch import starters
from scalestudy.launch.run import measure_run
from slurm_cluster import Cluster
from slurm_studies import Submitting, small_study


@pytest.mark.slow
@pytest.mark.fault(
    fault="the controller does not answer",
    moment="a run starts",
    outcome="the run waits for it; its log shows this",
    kept="the run",
    next_call="nothing is left to do",
)
def test_a_launch_waits_for_the_controller(submitting: Submitting, controller: Cluster) -> None:
    submitting.configure(small_study())
    run = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "single")
    script = f"until [ -e go ]; do sleep 0.2; done; {BIN}/scalestudy stage train --run {run}"
    options = ["--cpus-per-task=2", "--mem=8000", "--output=job.log", f"--chdir={submitting.root}"]
    submitting.run_in_cluster("sbatch", *options, f"--wrap={script}")
    wait_for(lambda: "RUNNING" in " ".join(controller.jobs()), seconds=60)
    controller.stop_controller()
    (submitting.root / "go").touch()
    log = submitting.root / "job.log"
    wait_for(lambda: "for SLURM's controller, which does not answer" in log.read_text(), seconds=180)
    time.sleep(10)
    controller.start_controller()
    wait_for(submitting.records, seconds=300)
    assert submitting.records()[run].outcome == "ok", submitting.records()[run].reason
    assert log.read_text().count("for SLURM's controller, which does not answer") == 1


@pytest.mark.slow
@pytest.mark.fault(
    fault="the controller does not answer for longer than a run waits",
    moment="a run starts",
    outcome="preempted; the record quotes SLURM",
    kept="finished runs",
    next_call="the run is measured",
)
def test_a_launch_that_gives_up_waiting_leaves_a_record(
    submitting: Submitting, controller: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    submitting.configure(small_study())
    spec = next(spec for spec in submitting.plan().runs.values() if spec.variant == "single")
    controller.stop_controller()
    monkeypatch.setenv("PATH", controller.environment()["PATH"])
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setattr(starters, "CONTROLLER_S", 6)
    with handlers_kept():
        record, _ = measure_run(spec, tmp_path)
        assert record.outcome == "preempted"
        assert record.reason.startswith("SLURM did not report within 0.1 min the allocation of job 1: ")
        assert "slurm controller" in record.reason
        assert record.environment["slurm_job_id"] == "1"
        monkeypatch.delenv("SLURM_JOB_ID")
        again, made = measure_run(spec, tmp_path)
    assert (again.outcome, made) == ("ok", True)
    assert [attempt["end"] for attempt in again.environment["earlier_attempts"]] == [record.reason]
