"""What queues do to a run: each ends in its named outcome, and nothing is left behind."""

from __future__ import annotations

import pytest
from conftest import wait_for
from scalestudy.record.tables import read_observation
from slurm_studies import ENDLESS, Launch, Submitting


@pytest.mark.slow
@pytest.mark.fault(
    fault="the job reaches its time limit",
    moment="training",
    outcome="timeout; the reason names the job",
    kept="the measurements so far",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_an_allocation_whose_time_is_up_is_a_timeout_with_what_was_measured(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", epochs=ENDLESS)
    launch.wait_until_it_trains()
    submitting.cluster.run("scontrol", "update", f"jobid={launch.job}", "EndTime=now+1")
    launch.end()
    record = launch.record()
    assert record.outcome == "timeout"
    assert f"SLURM job {record.environment['slurm_job_id']} reached its time limit after" in record.reason
    assert len(read_observation(submitting.results / "runs" / record.run_id).steps) > 0


@pytest.mark.slow
@pytest.mark.fault(
    fault="the job is preempted and requeued",
    moment="training",
    outcome="ok: the run starts again with the job, and its record lists the earlier attempt",
    kept="the run",
    next_call="nothing is left to do",
)
def test_a_preempted_job_is_queued_again_and_says_so(submitting: Submitting) -> None:
    launch = Launch(submitting, epochs=120)
    launch.wait_until_it_trains()
    urgent = ["sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--exclusive", "--wrap=sleep 2"]
    job = launch.job
    submitting.cluster.run(*urgent, "--output=/dev/null")
    wait_for(lambda: f"{job} PENDING" in submitting.cluster.jobs(), seconds=90)
    # SLURM leaves a job that was queued again alone for two minutes.
    submitting.cluster.run("scontrol", "update", f"jobid={job}", "StartTime=now")
    assert launch.end() == 0
    record = launch.record()
    assert record.outcome == "ok"
    assert [attempt["end"] for attempt in record.environment["earlier_attempts"]]
    assert [w["kind"] for w in record.environment["warnings"] if w["kind"] == "repeated launch"]


@pytest.mark.slow
@pytest.mark.fault(
    fault="scancel",
    moment="training",
    outcome="preempted; the reason names the job",
    kept="the measurements so far",
    next_call="the run is measured again, and the earlier record is set aside",
)
def test_a_cancelled_job_is_preempted_and_measured_again_by_the_next_call(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", epochs=ENDLESS)
    launch.wait_until_it_trains()
    submitting.cluster.run("scancel", launch.job)
    launch.end()
    record = launch.record()
    assert record.outcome == "preempted"
    # While the processes of a job are ending, SLURM does not report its final state.
    assert record.reason.split(" after ")[0].split(" ", 3)[3] in ("was cancelled", "received SIGTERM")
    assert record.totals.steps > 0
    dry = submitting.submit("-n", "--", f"results/small/runs/{launch.run_id}/run.sha256").stdout
    assert "train_distributed" in dry
