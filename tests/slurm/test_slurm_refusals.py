"""A job that SLURM refuses, holds or cancels: the reason reaches the terminal and the log of each of its runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import planned
from slurm_studies import Driver, Submitting, small_study


def logs_of(submitting: Submitting) -> list[str]:
    """Texts of the logs of the runs."""
    return [path.read_text() for path in submitting.results.glob("logs/train/*.log")]


def refused(what: str, said: str) -> pytest.MarkDecorator:
    """A cell of the fault matrix: a submission that cannot be."""
    return pytest.mark.fault(
        fault=f"a job requests {what}",
        moment="submission",
        outcome=f"the job fails; terminal and logs show {said}, and the key to change",
        kept="finished runs",
        next_call="the runs are measured once the key is changed",
    )


@pytest.mark.parametrize(
    ("resources", "changes", "said", "key"),
    [
        pytest.param(
            "mem_mb=200000",
            {},
            "it requests 200000 MB of memory per node, but the largest node of partition main has 100000",
            "mem_mb under set-resources in profiles/slurm/config.yaml",
            marks=refused("more memory than a node has", "how much the nodes have"),
            id="memory",
        ),
        pytest.param(
            "slurm_partition=nowhere",
            {},
            "partition nowhere does not exist (there are: main, members, single, urgent)",
            "slurm_partition under default-resources",
            marks=[refused("a partition that does not exist", "which partitions exist"), pytest.mark.slow],
            id="partition",
        ),
        pytest.param(
            "slurm_partition=urgent",
            {"time_limit_min": 20},
            "it requests 44 min, but partition urgent allows 10",
            "allocation_limit_min of the study",
            marks=[refused("more time than a partition allows", "how much it allows"), pytest.mark.slow],
            id="time",
        ),
        pytest.param(
            "slurm_partition=single",
            {"scales": ["2x1"]},
            "it requests 2 nodes, but partition single allows up to 1 per job",
            "scales of the study",
            marks=[refused("more nodes than a partition allows", "how many it allows"), pytest.mark.slow],
            id="nodes",
        ),
        pytest.param(
            "slurm_partition=main",
            {"host": {"device": "cpu", "cores_per_rank": 3}},
            "it requests 6 CPUs per node, but the largest node of partition main has 4",
            "host.cores_per_rank",
            marks=[refused("more cores than a node has", "how many the nodes have"), pytest.mark.slow],
            id="cores",
        ),
        pytest.param(
            "mem_mb=200000 qos=high",
            {},
            "Requested node configuration is not available",
            "mem_mb under set-resources in profiles/slurm/config.yaml",
            marks=[refused("something that SLURM itself refuses", "SLURM's message"), pytest.mark.slow],
            id="by-slurm",
        ),
    ],
)
def test_a_refused_job_says_why_and_what_to_change(
    submitting: Submitting, resources: str, changes: dict, said: str, key: str
) -> None:
    submitting.configure(small_study(**changes))
    rules = ("train_baseline", "train_distributed")
    given = [f"{rule}:{resource}" for rule in rules for resource in resources.split()]
    target = "results/small/comprehensive_summary.csv"
    output = submitting.submit("--set-resources", *given, "--", target, check=False).stdout
    (line,) = [line for line in output.splitlines() if line.startswith("Not submitted: ")]
    assert said in line
    assert key in line
    logs = logs_of(submitting)
    assert len(logs) == 2
    assert all(line in log for log in logs)
    assert not submitting.cluster.jobs()
    assert planned(submitting.submit("-n", "--", target).stdout)["train_distributed"] == 1


@pytest.fixture
def waiting(submitting: Submitting) -> Iterator[Driver]:
    """A driver whose job waits, since its partition is down."""
    submitting.configure(small_study())
    submitting.cluster.run("scontrol", "update", "partition=main", "state=down")
    try:
        driver = submitting.drive("--", "results/small/comprehensive_summary.csv")
        driver.wait_until_it_says("submitted with SLURM jobid")
        yield driver
    finally:
        driver.kill()
        submitting.cluster.run("scancel", "--partition=main")
        submitting.cluster.run("scontrol", "update", "partition=main", "state=up", "MaxTime=600")


@pytest.mark.slow
@pytest.mark.fault(
    fault="scancel",
    moment="a job waits in the queue",
    outcome="the job fails; terminal and logs show that it was cancelled",
    kept="finished runs",
    next_call="the runs are measured",
)
def test_a_cancelled_job_says_so_in_terminal_and_logs(submitting: Submitting, waiting: Driver) -> None:
    waiting.wait_until_it_says("waiting (PartitionDown)")
    job = submitting.cluster.jobs()[0].split()[0]
    submitting.cluster.run("scancel", job)
    assert waiting.end() != 0
    line = f"Failed: n1g2-blocks-1 (2 runs): SLURM job {job} ended as CANCELLED"
    assert line in waiting.said
    logs = logs_of(submitting)
    assert len(logs) == 2
    assert all(line in log for log in logs)


@pytest.mark.slow
@pytest.mark.fault(
    fault="a job is held",
    moment="a job waits in the queue",
    outcome="the study waits; the terminal shows that the job is held, and how to release it",
    kept="every run",
    next_call="nothing is left to do",
)
def test_a_held_job_is_said_to_be_held(submitting: Submitting, waiting: Driver) -> None:
    job = submitting.cluster.jobs()[0].split()[0]
    submitting.cluster.run("scontrol", "uhold", job)
    waiting.wait_until_it_says(f"SLURM job {job}: held (JobHeldUser). To continue: scontrol release {job}")
    submitting.cluster.run("scontrol", "update", "partition=main", "state=up")
    submitting.cluster.run("scontrol", "release", job)
    assert waiting.end() == 0
    assert {record.outcome for record in submitting.records().values()} == {"ok"}


@pytest.mark.slow
@pytest.mark.fault(
    fault="a partition's time limit is lowered below a job's",
    moment="a job waits in the queue",
    outcome="the study waits; the terminal shows that the job cannot start, and what to change",
    kept="finished runs",
    next_call="the job is refused before it is submitted, with the same key",
)
def test_a_job_that_can_never_start_is_said_to(submitting: Submitting, waiting: Driver) -> None:
    job = submitting.cluster.jobs()[0].split()[0]
    submitting.cluster.run("scontrol", "update", "partition=main", "MaxTime=1")
    submitting.cluster.run("scontrol", "update", "partition=main", "state=up")
    waiting.wait_until_it_says(
        f"SLURM job {job}: waiting, and cannot start unless this is changed (PartitionTimeLimit)"
    )
    assert "allocation_limit_min of the study" in waiting.said
    waiting.kill()
    submitting.cluster.run("scancel", job)
    output = submitting.submit("--", "results/small/comprehensive_summary.csv", check=False).stdout
    assert "it requests 10 min, but partition main allows 1" in output


@pytest.mark.slow
@pytest.mark.fault(
    fault="a job names an account that its partition refuses",
    moment="submission",
    outcome="the study waits; the terminal shows SLURM's reason and the key to change",
    kept="finished runs",
    next_call="the runs are measured once the key is changed",
)
def test_an_account_that_a_partition_refuses(submitting: Submitting) -> None:
    """Without accounting SLURM accepts such a job, and never starts it."""
    submitting.configure(small_study())
    given = [
        f"{rule}:{resource}"
        for rule in ("train_baseline", "train_distributed")
        for resource in ("slurm_partition=members", "slurm_account=nobody")
    ]
    driver = submitting.drive("--set-resources", *given, "--", "results/small/comprehensive_summary.csv")
    driver.wait_until_it_says("Job's account not known, so it can't use this partition (members allows science)")
    assert "cannot start unless this is changed" in driver.said
    assert "slurm_account under default-resources" in driver.said
    submitting.cluster.run("scancel", "--partition=members")
    assert driver.end() != 0
    assert all("ended as CANCELLED" in log for log in logs_of(submitting))


def test_the_key_that_is_named_is_one_that_there_is(submitting: Submitting) -> None:
    """Keys of the study and of the profile, in the words of advice."""
    from scalestudy.chain.slurm import advice

    named = " ".join(keys for _, keys in advice.ADVICE)
    study = (submitting.root / "config/README.md").read_text()
    profile = (submitting.root / advice.PROFILE).read_text()
    for key in ("allocation_limit_min", "time_limit_min", "scales", "cores_per_rank"):
        assert key in named
        assert f"`{key}`" in study
    for key in ("slurm_account", "slurm_partition", "qos", "constraint", "gpu_type", "set-resources", "jobs"):
        assert key in named
        assert key in profile
    assert Path(submitting.root / advice.PROFILE).is_file()


def test_the_plan_says_what_slurm_cannot_run(submitting: Submitting) -> None:
    """Before anything is submitted, with the partition and the memory of the profile."""
    submitting.configure(small_study(time_limit_min=20))
    assert "SLURM cannot run" not in submitting.run("scalestudy", "plan").stdout
    profile = submitting.root / "profiles/slurm/config.yaml"
    profile.write_text(
        profile.read_text()
        + "\ndefault-resources:\n  slurm_partition: urgent\n"
        + "set-resources:\n  train_baseline: {mem_mb: 200000}\n  train_distributed: {mem_mb: 200000}\n"
    )
    said = " ".join(submitting.run("scalestudy", "plan").stdout.split())
    assert "SLURM cannot run n1g2-blocks-1: it requests 44 min, but partition urgent allows 10." in said
    assert "it requests 200000 MB of memory per node, but the largest node of partition urgent has 100000." in said


@pytest.mark.slow
def test_scalestudy_run_says_it_too(submitting: Submitting) -> None:
    """However a study is started, its jobs are submitted by the same executor."""
    submitting.configure(small_study())
    given = [f"{rule}:mem_mb=200000" for rule in ("train_baseline", "train_distributed")]
    said = submitting.run("scalestudy", "run", "--profile", "slurm", "--set-resources", *given, check=False)
    assert said.returncode != 0
    assert "Not submitted: n1g2-blocks-1 (2 runs): it requests 200000 MB of memory per node" in said.stdout
