"""A limit on submitted jobs is reached: the study waits for room, says so, and loses nothing."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator

import pytest
from conftest import wait_for
from slurm_cluster import Cluster
from slurm_studies import Submitting, small_study

FORGETS_WITHIN_S = 80
"""The controller looks for ended jobs to forget once a minute."""
TARGET = ("--", "results/small/comprehensive_summary.csv")
POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.fixture
def few_in_an_array(controller: Cluster) -> Iterator[None]:
    """A cluster without arrays but those of two jobs: task ids must be smaller than MaxArraySize."""
    path = controller.base / "slurm.conf"
    text = path.read_text()
    path.write_text(f"{text}\nMaxArraySize=2\n")
    try:
        controller.stop_controller()
        controller.start_controller()
        assert "MaxArraySize            = 2" in controller.run("scontrol", "show", "config")
        yield
    finally:
        path.write_text(text)
        controller.stop_controller()
        controller.start_controller()


@pytest.fixture
def full(controller: Cluster) -> Iterator[Cluster]:
    """A cluster that has as many jobs as it accepts, all of which run or wait.

    An ended job of another test also counts until it is forgotten. So one refusal does not mean that the cluster
    is full.
    """
    path = controller.base / "slurm.conf"
    text = path.read_text()
    path.write_text(text.replace("MinJobAge=600", "MinJobAge=2\nMaxJobCount=3"))
    try:
        controller.stop_controller()
        controller.start_controller()
        refused_since = time.monotonic()
        while time.monotonic() - refused_since < FORGETS_WITHIN_S:
            with contextlib.suppress(subprocess.TimeoutExpired):  # sbatch waits for room
                command = ["sbatch", "--mem=100", "--output=/dev/null", "--chdir=/", "--wrap=sleep 900"]
                subprocess.run(command, env=controller.environment(), check=True, timeout=10)
                refused_since = time.monotonic()
        yield controller
    finally:
        controller.run("scancel", "--name=wrap", check=False)
        path.write_text(text)
        controller.stop_controller()
        controller.start_controller()


@pytest.mark.slow
@pytest.mark.fault(
    fault="the controller accepts no further job (MaxJobCount)",
    moment="submission",
    outcome="the study waits; the terminal shows the limit, SLURM's message and the key to change",
    kept="every run",
    next_call="nothing is left to do",
)
def test_a_study_waits_for_room_in_the_queue(submitting: Submitting, full: Cluster) -> None:
    """sbatch itself repeats a submission for two minutes before it gives up."""
    submitting.configure(small_study())
    driver = submitting.drive(*TARGET)
    driver.wait_until_it_says("SLURM has accepted no further job since ", seconds=300)
    assert ": a limit on submitted jobs is reached (Slurm temporarily unable to accept job" in driver.said
    assert "jobs in profiles/slurm/config.yaml" in driver.said
    assert "SLURM has not answered" not in driver.said, "it does answer"
    assert len(full.run("squeue", "--noheader", "--name=wrap").splitlines()) == len(full.jobs()) > 0
    full.run("scancel", "--name=wrap")
    assert driver.end() == 0, driver.said
    assert "SLURM accepts jobs again after " in driver.said
    assert {record.outcome for record in submitting.records().values()} == {"ok"}


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGKILL to snakemake while no further job is accepted",
    moment="submission",
    outcome="not recorded",
    kept="every run",
    next_call="the runs are measured once there is room",
)
def test_a_call_that_is_killed_while_it_waits_for_room(submitting: Submitting, full: Cluster) -> None:
    submitting.configure(small_study())
    driver = submitting.drive(*TARGET)
    driver.wait_until_it_says("SLURM has accepted no further job since ", seconds=300)
    driver.kill()
    assert submitting.records() == {}
    full.run("scancel", "--name=wrap")
    wait_for(lambda: not full.jobs(), seconds=60)
    submitting.submit(*TARGET)
    assert {record.outcome for record in submitting.records().values()} == {"ok"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(
            limit,
            marks=pytest.mark.fault(
                fault=f"the limit on submitted jobs of {whose} is reached",
                moment="submission",
                outcome="the study waits; the terminal shows the limit, SLURM's message and the key to change",
                kept="every run",
                next_call="nothing is left to do",
            ),
        )
        for limit, whose in {
            "AssocMaxSubmitJobLimit": "an account",
            "QOSMaxSubmitJobPerUserLimit": "a quality of service",
        }.items()
    ],
)
def test_a_study_waits_for_the_jobs_of_its_account(submitting: Submitting, limit: str) -> None:
    """sbatch prints SLURM's own words: the cluster of the tests lacks the accounting that these limits need."""
    submitting.configure(small_study())
    says = f"echo 'sbatch: error: {limit}' >&2; echo \"sbatch: error: Batch job submission failed: {POLICY}\" >&2"
    refused = submitting.break_command("sbatch", f"{says}; exit 1")
    refused.touch()
    driver = submitting.drive(*TARGET)
    driver.wait_until_it_says(f": a limit on submitted jobs is reached ({limit}; ")
    refused.unlink()
    assert driver.end() == 0, driver.said
    assert "SLURM accepts jobs again after " in driver.said
    assert {record.outcome for record in submitting.records().values()} == {"ok"}


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [True, False], ids=["jobs-of-several-runs", "a-job-for-each-run"])
@pytest.mark.fault(
    fault="job arrays are requested on a cluster without job arrays (MaxArraySize)",
    moment="submission",
    outcome="every job is submitted alone; the plug-in warns about it; ok",
    kept="every run",
    next_call="nothing is left to do",
)
@pytest.mark.usefixtures("few_in_an_array")
def test_a_limit_on_arrays_does_not_matter(submitting: Submitting, *, grouped: bool) -> None:
    """Runs belong to groups of Snakemake, which are never submitted as arrays, and all other rules are local."""
    submitting.configure(small_study(repeats=2))
    profile = submitting.root / "profiles/slurm/config.yaml"
    text = profile.read_text()
    if not grouped:
        text = text.replace("group-components:\n  - allocation=1000000\n", "group-components:\n  - allocation=1\n")
        assert text != profile.read_text()
    profile.write_text(f"{text}\nslurm-array-jobs: all\n")
    driver = submitting.drive(*TARGET)
    assert driver.end() == 0, driver.said
    assert "is a group job and cannot be submitted as an array job" in driver.said
    records = submitting.records().values()
    assert {record.outcome for record in records} == {"ok"}
    jobs = {record.environment["slurm_job_id"] for record in records}
    assert (len(jobs) < len(records)) == grouped, jobs
