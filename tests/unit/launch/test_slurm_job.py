"""SLURM's description of a job, and how it is read."""

from __future__ import annotations

import datetime
import signal
from pathlib import Path
from typing import Any

import pytest
from scalestudy.errors import UserError
from scalestudy.launch.outcome import Evidence, judge
from scalestudy.launch.slurm import job as slurm_job
from scalestudy.launch.slurm.job import Job, parse_job, read_ended_job, step_command, what_became
from scalestudy.launch.starters import LEAST_S, Slurm
from scalestudy.study.config.load import parse_study
from scalestudy.study.limits import WRITING_S, Limits
from scalestudy.study.plan import make_plan

# As `scontrol --oneliner show job` prints it (SLURM 22.05), shortened.
RUNNING = (
    "JobId=12 JobName=a b UserId=me(1000) Priority=1 JobState=RUNNING Reason=None Dependency=(null) Requeue=1"
    " RunTime=00:00:05 TimeLimit=00:10:00 StartTime=2026-11-21T15:00:00 EndTime=2026-11-21T15:10:00"
    " Partition=main NodeList=node[1-2] BatchHost=node1 NumNodes=2 NumCPUs=4"
    " TRES=cpu=4,mem=16000M,node=2,billing=4,gres/gpu=4 Comment=rule_x StdOut=/logs/12.log Power="
)
PENDING = (
    "JobId=13 JobState=PENDING EndTime=Unknown NodeList= NumNodes=1 TRES=cpu=1,mem=1G,node=1 StdOut=/logs/13.log"
)


def expand(listed: str) -> tuple[str, ...]:
    assert listed == "node[1-2]"
    return ("node1", "node2")


def test_a_running_job() -> None:
    job = parse_job("12", RUNNING, hosts=expand)
    assert job == Job(
        "12",
        "RUNNING",
        ("node1", "node2"),
        datetime.datetime(2026, 11, 21, 15, 10),
        True,
        "/logs/12.log",
        "None",
        gpus=4,
        cores=4,
    )
    assert job.alive
    assert job.left_s(datetime.datetime(2026, 11, 21, 15, 8)) == 120


def test_a_job_that_waits() -> None:
    job = parse_job("13", PENDING, hosts=expand)
    assert job.nodes == ()
    assert not job.has_gpus
    assert job.left_s(datetime.datetime.now()) is None


@pytest.mark.parametrize(
    ("granted", "device", "held"),
    [
        ("cpu=16 JOB_GRES=gpu:8", "cuda", 8),  # a site that does not track GPUs
        ("cpu=16 JOB_GRES=gpu:a100:8", "cuda", 8),
        ("cpu=16 JOB_GRES=gpu:a100:4,gpu:1g.10gb:2", "cuda", 6),
        ("cpu=16,gres/gpu=8,gres/gpu:a100=8 JOB_GRES=gpu:a100:8", "cuda", 8),
        ("cpu=16 JOB_GRES=shard:8", "auto", 4),
        ("cpu=16,gres/gpu=8", "auto", 8),
        ("cpu=16,gres/gpu=8,gres/gpu:a100=8", "cuda", 8),
        ("cpu=16,gres/gpu:a100=4,gres/gpu:h100=2", "cuda", 6),
        ("cpu=16,gres/gpu=8", "cpu", 4),  # ranks on CPUs: as many as its cores make
        ("cpu=16", "auto", 4),
        ("cpu=1", "auto", 2),  # fewer than the run has ranks is a site's way of counting
    ],
)
def test_devices_that_a_job_holds_for_a_launch(
    content: dict[str, Any], granted: str, device: str, held: int
) -> None:
    """A run of two ranks with four cores each: the job may have more cores, and these are idle."""
    plan = make_plan(parse_study(content | {"host": {"device": device, "cores_per_rank": 4}}, source="x"))
    spec = next(spec for spec in plan.runs.values() if spec.world_size == 2)
    cores = granted.replace(" ", ",").split(",")[0].removeprefix("cpu=")
    line = f"JobId=7 JobState=RUNNING NodeList=node[1-2] NumNodes=2 NumCPUs={cores} AllocTRES={granted}"
    assert parse_job("7", line, hosts=expand).held_devices(spec) == held


@pytest.mark.parametrize(
    ("named", "cores", "gpus", "granted"),
    [
        (None, 32, 4, 8),
        (None, 128, 4, 8),  # a whole node
        (None, 16, 4, 4),  # an allocation of somebody's own: more would be refused by srun
        (None, 2, 4, 1),
        (None, 0, 4, 8),  # SLURM does not say
        (3, 32, 4, 3),
        (12, 32, 4, 12),
    ],
)
def test_cores_of_a_step_for_each_gpu(
    content: dict[str, Any], named: int | None, cores: int, gpus: int, granted: int
) -> None:
    """The same for one process as for each of two ranks."""
    host = {"device": "cuda"} | ({"cores_per_rank": named} if named else {})
    job = Job("7", "RUNNING", ("a",), has_gpus=True, gpus=gpus, cores=cores)
    for spec in make_plan(parse_study(content | {"host": host}, source="x")).runs.values():
        line = step_command(spec, job, job.nodes)
        assert f"--cpus-per-task={granted * spec.world_size}" in line


def test_devices_of_a_job_that_slurm_has_forgotten_are_not_known(content: dict[str, Any]) -> None:
    spec = next(iter(make_plan(parse_study(content, source="x")).runs.values()))
    assert Job("7", "UNKNOWN").held_devices(spec) is None


ENDS = [
    ("TIMEOUT", "timeout", "SLURM job 7 reached its time limit after 5 steps"),
    ("PREEMPTED", "preempted", "SLURM job 7 was preempted after 5 steps"),
    ("CANCELLED", "preempted", "SLURM job 7 was cancelled after 5 steps"),
    ("NODE_FAIL", "failed", "a node of SLURM job 7 failed after 5 steps"),
    ("OUT_OF_MEMORY", "oom", "SLURM job 7 used more memory than it was allocated after 5 steps"),
    ("PENDING", "preempted", "SLURM job 7 was requeued after 5 steps"),
    ("RUNNING", "preempted", "SLURM job 7 received SIGTERM after 5 steps"),
    ("UNKNOWN", "failed", "SLURM job 7 has ended, and SLURM has no record of how it ended"),
    ("FAILED", "failed", "SLURM job 7 ended as FAILED after 5 steps"),
]


@pytest.mark.parametrize(("state", "outcome", "reason"), ENDS)
def test_how_a_job_ended_is_an_outcome(state: str, outcome: str, reason: str) -> None:
    assert what_became(Job("7", state), 5) == (outcome, reason)


@pytest.mark.parametrize(
    ("reason", "outcome", "words"),
    [
        ("TimeLimit", "timeout", "reached its time limit after 5 steps"),
        ("OutOfMemory", "oom", "used more memory than it was allocated after 5 steps"),
        ("None", "preempted", "received SIGTERM after 5 steps"),
    ],
)
def test_a_job_whose_processes_are_ending_has_no_end_yet(reason: str, outcome: str, words: str) -> None:
    """SLURM hides what it will be; a run in it is measured again unless the reason says more."""
    job = Job("7", "COMPLETING", reason=reason)
    assert job.alive
    assert what_became(job, 5) == (outcome, f"SLURM job 7 {words}")


def test_whoever_settles_waits_until_the_processes_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(["COMPLETING", "COMPLETING", "NODE_FAIL"])
    monkeypatch.setattr(slurm_job, "read_job", lambda job: Job(job, next(states)))
    monkeypatch.setattr(slurm_job.time, "sleep", lambda seconds: None)
    assert read_ended_job("7").state == "NODE_FAIL"
    states = iter(["COMPLETING"])
    monkeypatch.setattr(slurm_job, "COMPLETING_S", 0)
    assert read_ended_job("7").alive


def test_more_nodes_than_the_job_has_are_refused(content: dict[str, Any]) -> None:
    spec = next(
        s for s in make_plan(parse_study(content | {"scales": ["2x1"]}, source="x")).runs.values() if s.nodes > 1
    )
    assert Slurm(Job("7", "RUNNING", ("a", "b"))).refuse(spec) is None
    assert Slurm(Job("7", "RUNNING", ("a",))).refuse(spec) == (
        "2 nodes are planned, but SLURM job 7 has only 1 (a); request 2 (nodes, tasks and mpi of the rule)"
    )


def ending_in(seconds: float) -> Slurm:
    return Slurm(Job("7", "RUNNING", ("a",), datetime.datetime.now() + datetime.timedelta(seconds=seconds)))


def test_a_launch_ends_before_its_allocation() -> None:
    asked = Limits(time_limit_min=30)
    assert ending_in(7200).limits(asked) == asked
    cut = ending_in(600).limits(asked)
    assert cut.time_limit_min == pytest.approx((600 - WRITING_S) / 60, abs=0.1)
    assert cut.cut == "SLURM job 7 has no more left"


def test_no_launch_is_begun_that_could_not_be_ended() -> None:
    with pytest.raises(UserError, match="too little for another run"):
        ending_in(WRITING_S + LEAST_S - 5).limits(Limits())


def test_a_job_that_ends_while_its_controller_is_away_keeps_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SLURM's commands are missing, which counts as no answer."""
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome, reason = Slurm(Job("7", "RUNNING", ("a",))).took(signal.SIGTERM, 12)
    assert outcome == "preempted"
    assert reason.startswith("SLURM job 7 received SIGTERM after 12 steps; SLURM did not report")


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("srun: error: Unable to confirm allocation for job 7: Unable to contact slurm controller", "preempted"),
        ("srun: error: Unable to create step for job 7: Socket timed out on send/recv operation", "preempted"),
        ("srun: error: Unable to create step for job 7: Memory required by task is not available", "failed"),
    ],
)
def test_a_launch_that_slurm_did_not_start(content: dict[str, Any], said: str, outcome: str) -> None:
    """One that only met a controller that was away is measured again by the next call."""
    spec = next(iter(make_plan(parse_study(content, source="x")).runs.values()))
    found = judge(spec, Evidence(reports=(), exit_code=1, log=f"{said}\n", limits=Limits()))
    assert found == (outcome, f"SLURM did not start the run: {said.removeprefix('srun: error: ')}")
