"""What becomes of a run whose node, job or driver is taken away, and of what had been measured before."""

from __future__ import annotations

import signal
import time

import pytest
from conftest import wait_for
from slurm_studies import Launch, Submitting, small_study

pytestmark = pytest.mark.slow

LONG = 60
"""Epochs of a run that is still under way when the fault comes, and ends soon after it."""


def measured_once(launch: Launch) -> None:
    """The run ended well, and the same call finds it and does not measure it again."""
    record = launch.record()
    assert record.outcome == "ok", record.reason
    checksum = launch.submitting.results / "runs" / launch.run_id / "run.json"
    before = checksum.read_bytes()
    said = launch.submitting.run("scalestudy", "stage", "train", "--run", launch.run_id).stdout
    assert "kept, already measured" in said
    assert checksum.read_bytes() == before


@pytest.mark.fault(
    fault="slurmd of the node is killed, and starts again",
    moment="training",
    outcome="ok",
    kept="the run",
    next_call="the run is kept and not measured again",
)
def test_a_node_daemon_that_is_killed_does_not_end_the_launch(submitting: Submitting, both_nodes: None) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", epochs=LONG)
    launch.wait_until_it_trains()
    node = submitting.cluster.run("squeue", "--noheader", "--format=%N").strip()
    submitting.cluster.stop_daemon(node, signal.SIGKILL)
    time.sleep(5)
    submitting.cluster.start_node(node)
    launch.end()
    measured_once(launch)


@pytest.mark.fault(
    fault="the node is drained",
    moment="training",
    outcome="ok: a node is drained once its jobs have ended",
    kept="the run",
    next_call="the run is kept and not measured again",
)
def test_a_node_that_is_drained_lets_the_launch_end(submitting: Submitting, both_nodes: None) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", epochs=LONG)
    launch.wait_until_it_trains()
    node = submitting.cluster.run("squeue", "--noheader", "--format=%N").strip()
    submitting.cluster.run("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
    launch.end()
    measured_once(launch)


@pytest.mark.fault(
    fault="scontrol requeue",
    moment="training",
    outcome="ok: the run starts again with the job, and its record lists the earlier attempt",
    kept="the run",
    next_call="the run is kept and not measured again",
)
def test_a_requeued_job_measures_the_run_again(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1 --requeue --open-mode=append", epochs=LONG)
    launch.wait_until_it_trains()
    job = launch.job
    submitting.cluster.run("scontrol", "requeue", job)
    wait_for(lambda: f"{job} PENDING" in submitting.cluster.jobs(), seconds=120)
    wait_for(lambda: submitting.cluster.states() == ["idle", "idle"], seconds=120)
    # A node refuses credentials that are no younger, in whole seconds, than the end of the job's first start.
    time.sleep(3)
    submitting.cluster.run("scontrol", "update", f"jobid={job}", "StartTime=now")
    # The queue is empty for a moment before the job begins again.
    wait_for(lambda: {"ok"} == {record.outcome for record in submitting.records().values()}, seconds=600)
    launch.end()
    assert launch.record().environment["earlier_attempts"]
    measured_once(launch)


@pytest.mark.fault(
    fault="the accounting hangs (sacct, sacctmgr and sshare do not return)",
    moment="submission and a running job, with slurm-status-command: sacct",
    outcome="ok: squeue shows what sacct does not",
    kept="every run",
    next_call="nothing is left to do",
)
def test_an_accounting_that_hangs_costs_only_time(submitting: Submitting) -> None:
    submitting.configure(small_study())
    for name in ("sacct", "sacctmgr", "sshare"):
        submitting.break_command(name, "exec sleep 900").touch()
    run = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "single")
    target = f"results/small/runs/{run}/run.sha256"
    driver = submitting.drive("--slurm-status-command", "sacct", "--", target)
    assert driver.end() == 0
    assert submitting.records()[run].outcome == "ok"


GOES_ON = {
    "moment": "a job is running",
    "outcome": "the job completes",
    "kept": "every run of the job",
    "next_call": "finished runs are kept and not measured again",
}


@pytest.mark.parametrize(
    "signum",
    [
        pytest.param(signal.SIGKILL, marks=pytest.mark.fault(fault="SIGKILL of snakemake", **GOES_ON)),
        pytest.param(
            signal.SIGHUP,
            marks=pytest.mark.fault(fault="the login node logs the user out", **GOES_ON),
        ),
    ],
)
def test_a_driver_that_is_killed_leaves_its_job_to_its_end(submitting: Submitting, signum: signal.Signals) -> None:
    submitting.configure(small_study())
    run = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "single")
    target = f"results/small/runs/{run}/run.sha256"
    driver = submitting.drive("--", target)
    wait_for(lambda: submitting.partial("spec.json"), seconds=240)
    driver.kill(signum)
    wait_for(lambda: not submitting.cluster.jobs(), seconds=240)
    before = (submitting.results / "runs" / run / "run.json").read_bytes()
    assert submitting.drive("--", target).end() == 0
    assert (submitting.results / "runs" / run / "run.json").read_bytes() == before


@pytest.mark.fault(
    fault="the login node logs the user out",
    moment="a job waits in the queue",
    outcome="the job stays in the queue",
    kept="every run",
    next_call="submits its own job, which keeps the measurements of the first",
)
def test_a_call_after_a_logout_shares_the_launch_with_the_job_that_waits(submitting: Submitting) -> None:
    submitting.configure(small_study())
    run = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "single")
    target = f"results/small/runs/{run}/run.sha256"
    cluster = submitting.cluster
    cluster.run("scontrol", "update", "partition=main", "state=down")  # jobs wait
    try:
        driver = submitting.drive("--", target)
        wait_for(lambda: len(cluster.jobs()) == 1, seconds=90)
        driver.kill(signal.SIGHUP)
        again = submitting.drive("--", target)
        wait_for(lambda: len(cluster.jobs()) == 2, seconds=90)
    finally:
        cluster.run("scontrol", "update", "partition=main", "state=up")
    assert again.end() == 0, again.said
    record = submitting.records()[run]
    assert record.outcome == "ok"
    assert "earlier_attempts" not in record.environment
    assert not list(submitting.results.glob("superseded/*"))
