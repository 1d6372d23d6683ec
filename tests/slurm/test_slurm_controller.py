"""A SLURM that does not answer costs time, and nothing else."""

from __future__ import annotations

import signal
import time

import pytest
from conftest import planned, wait_for
from slurm_cluster import Cluster
from slurm_studies import Submitting, small_study


def one_run(submitting: Submitting, variant: str = "single") -> str:
    """The file by which Snakemake knows the run of a variant."""
    run = next(run for run, spec in submitting.plan().runs.items() if spec.variant == variant)
    return f"results/small/runs/{run}/run.sha256"


@pytest.mark.fault(
    fault="squeue fails for a while",
    moment="a job is running",
    outcome="the study continues; one line shows since when SLURM has not answered",
    kept="every run",
    next_call="nothing is left to do",
)
def test_status_queries_that_fail_for_a_while_cost_only_time(submitting: Submitting) -> None:
    submitting.configure(small_study())
    broken = submitting.break_command("squeue", "echo 'squeue: error: no answer today' >&2; exit 1")
    target = one_run(submitting)
    driver = submitting.drive("--", target)
    driver.wait_until_it_says("submitted with SLURM jobid")
    broken.touch()
    time.sleep(12)
    broken.unlink()
    assert driver.end() == 0
    assert {record.outcome for record in submitting.records().values()} == {"ok"}
    assert driver.said.count("no answer today") == 1
    assert "Nothing to be done" in submitting.submit("-n", "--", target).stdout


@pytest.mark.slow
@pytest.mark.fault(
    fault="the controller is killed, and restarted after 70 s",
    moment="a job is running, and ends meanwhile",
    outcome="the study continues; one line shows since when SLURM has not answered",
    kept="every run",
    next_call="nothing is left to do",
)
def test_a_controller_that_is_away_for_a_minute_costs_only_time(
    submitting: Submitting, controller: Cluster
) -> None:
    submitting.configure(small_study())
    target = one_run(submitting)
    driver = submitting.drive("--", target)
    wait_for(lambda: "RUNNING" in " ".join(controller.jobs()), seconds=120)
    wait_for(lambda: submitting.partial("spec.json"))
    time.sleep(5)  # the controller writes down what it knows
    controller.stop_controller(signal.SIGKILL)
    time.sleep(70)
    controller.start_controller()
    assert driver.end() == 0
    assert {record.outcome for record in submitting.records().values()} == {"ok"}
    assert driver.said.count("SLURM has not answered since") == 1
    assert "Nothing to be done" in submitting.submit("-n", "--", target).stdout


@pytest.mark.slow
@pytest.mark.fault(
    fault="squeue hangs for ten minutes, and SLURM no longer lists the job by then",
    moment="a job is running, and ends meanwhile",
    outcome="the study continues; how the job ended is read from its files",
    kept="every run",
    next_call="nothing is left to do",
)
def test_a_job_that_slurm_has_forgotten_is_judged_by_its_files(
    submitting: Submitting, controller: Cluster
) -> None:
    """The job is forgotten at once: a controller that starts with an empty memory knows no job."""
    submitting.configure(small_study())
    hanging = submitting.break_command("squeue", "exec sleep 600")
    target = one_run(submitting)
    driver = submitting.drive("--", target)
    driver.wait_until_it_says("submitted with SLURM jobid")
    hanging.touch()
    wait_for(lambda: submitting.records(), seconds=300)
    wait_for(lambda: not controller.jobs(), seconds=120)
    controller.stop_controller()
    controller.forget()
    controller.start_controller()
    hanging.unlink()
    assert driver.end() == 0
    assert {record.outcome for record in submitting.records().values()} == {"ok"}


@pytest.mark.slow
@pytest.mark.fault(
    fault="the controller does not answer",
    moment="jobs are about to be submitted",
    outcome="they are submitted once it answers; one line shows since when SLURM has not answered",
    kept="every run",
    next_call="nothing is left to do",
)
def test_a_submission_waits_for_the_controller(submitting: Submitting, controller: Cluster) -> None:
    submitting.configure(small_study())
    controller.stop_controller()
    driver = submitting.drive("--", one_run(submitting))
    driver.wait_until_it_says("SLURM has not answered since")
    time.sleep(10)
    controller.start_controller()
    assert driver.end() == 0
    assert {record.outcome for record in submitting.records().values()} == {"ok"}
    assert driver.said.count("SLURM has not answered since") == 1
    assert driver.said.count("submitted with SLURM jobid") == 1


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGINT of snakemake while squeue hangs",
    moment="a job waits in the queue",
    outcome="the job is cancelled, although Snakemake is in the middle of a status query",
    kept="finished runs",
    next_call="the runs are measured",
)
def test_an_interrupt_during_a_status_query_cancels_the_jobs(submitting: Submitting, controller: Cluster) -> None:
    submitting.configure(small_study())
    hanging = submitting.break_command("squeue", "exec sleep 600")
    controller.run("scontrol", "update", "partition=main", "state=down")  # the job waits
    try:
        target = one_run(submitting)
        driver = submitting.drive("--", target)
        driver.wait_until_it_says("submitted with SLURM jobid")
        hanging.touch()
        time.sleep(15)
        driver.process.send_signal(signal.SIGINT)
        assert driver.end() != 0
        assert controller.run("squeue", "--noheader", "--states=all", "--format=%T").split()[0] == "CANCELLED"
    finally:
        controller.run("scontrol", "update", "partition=main", "state=up")
    hanging.unlink()
    assert planned(submitting.submit("-n", "--", target).stdout) == {"train_baseline": 1}


@pytest.mark.slow
@pytest.mark.fault(
    fault="sbatch reports a time-out, but SLURM has accepted the job",
    moment="submission",
    outcome="the job is found in the queue and not submitted twice",
    kept="every run",
    next_call="nothing is left to do",
)
def test_a_job_that_slurm_took_without_an_answer_is_not_submitted_twice(
    submitting: Submitting, controller: Cluster
) -> None:
    submitting.configure(small_study())
    timed_out = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    broken = submitting.break_command("sbatch", f"REAL \"$@\" >/dev/null; echo '{timed_out}' >&2; exit 1")
    broken.touch()
    driver = submitting.drive("--", one_run(submitting))
    driver.wait_until_it_says("SLURM has accepted n1g2-blocks-1 (1 run) as job")
    assert driver.end() == 0
    assert driver.said.count("as job") == 1
    assert {record.outcome for record in submitting.records().values()} == {"ok"}
