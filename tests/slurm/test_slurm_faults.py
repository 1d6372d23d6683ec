"""What queues and machines do to a launch: each ends in its named outcome, and nothing is left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import BIN
from scalestudy.record.observation import RunRecord, read_observation
from slurm_studies import QUICK, Submitting, small_study, wait_for

ENDLESS = 100_000  # epochs


class Launch:
    """A launch of a study of its own that is under way: in a job of Snakemake's, or in one of the test's own.

    Snakemake looks at its jobs at ever longer intervals, so that what is the launch's own is tested without it.
    """

    def __init__(self, submitting: Submitting, *snakemake: str, sbatch: str | None = None, **study: Any) -> None:
        """snakemake: its options. sbatch: the options of a job without it. study: changes of the small study."""
        self.submitting = submitting
        submitting.configure(small_study(**study))
        self.run_id = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "ddp")
        if sbatch is None:
            target = f"results/small/runs/{self.run_id}/run.sha256"
            self.process = submitting.start("snakemake", "--profile", "slurm", *QUICK, *snakemake, "--", target)
        else:
            train = f"{BIN}/scalestudy train --run {self.run_id}"
            options = ["--mem=8000", "--output=job.log", f"--chdir={submitting.root}", *sbatch.split()]
            submitting.run_in_cluster("sbatch", *options, f"--wrap={train}")

    def wait_until_it_trains(self) -> None:
        """Until steps are being made."""
        wait_for(lambda: self.submitting.partial("progress.json"))

    @property
    def job(self) -> str:
        (line,) = self.submitting.cluster.jobs()
        return line.split()[0]

    def ranks(self) -> dict[int, int]:
        """Process ids of the ranks."""
        found = {}
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
                environment = (path.parent / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            mine = str(self.submitting.root).encode() in b" ".join(words)
            if mine and b"scalestudy.train" in words and b"torch.distributed.run" not in words:
                rank = next(v for v in environment if v.startswith(b"RANK="))
                found[int(rank.removeprefix(b"RANK="))] = int(path.parent.name)
        return found

    def end(self) -> int:
        """Exit code of Snakemake, 0 without it; nothing is in the queue then, and nothing runs."""
        code = self.process.wait(timeout=240) if hasattr(self, "process") else 0
        wait_for(lambda: not self.submitting.cluster.jobs(), seconds=120)
        assert not self.submitting.partial("*"), "nothing half written stays"
        assert not self.ranks()
        return code

    def record(self) -> RunRecord:
        """What was recorded."""
        return self.submitting.records()[self.run_id]


@pytest.fixture
def both_nodes(submitting: Submitting) -> Iterator[None]:
    """The nodes are back when the test is over."""
    yield
    for node in ("node1", "node2"):
        submitting.cluster.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)
    wait_for(lambda: submitting.cluster.states() == ["idle", "idle"])


def test_an_allocation_whose_time_is_up_is_a_timeout_with_what_was_measured(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", epochs=ENDLESS)
    launch.wait_until_it_trains()
    submitting.cluster.run("scontrol", "update", f"jobid={launch.job}", "EndTime=now+1")
    launch.end()
    record = launch.record()
    assert record.outcome == "timeout"
    assert f"SLURM job {record.environment['slurm_job_id']} reached its time limit after" in record.reason
    assert len(read_observation(submitting.results / "runs" / record.run_id).steps) > 0


def test_a_preempted_job_is_queued_again_and_says_so(submitting: Submitting) -> None:
    launch = Launch(submitting, epochs=200)
    launch.wait_until_it_trains()
    urgent = ["sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--exclusive", "--wrap=sleep 2"]
    job = launch.job
    submitting.cluster.run(*urgent, "--output=/dev/null")
    wait_for(lambda: f"{job} PENDING" in submitting.cluster.jobs())
    # SLURM leaves a job that was queued again alone for two minutes.
    submitting.cluster.run("scontrol", "update", f"jobid={job}", "StartTime=now")
    assert launch.end() == 0
    record = launch.record()
    assert record.outcome == "ok"
    assert [attempt["end"] for attempt in record.environment["earlier_attempts"]]
    assert [w["kind"] for w in record.environment["warnings"] if w["kind"] == "repeated launch"]


def test_a_cancelled_job_is_preempted_and_measured_again_by_the_next_call(submitting: Submitting) -> None:
    launch = Launch(submitting, epochs=ENDLESS)
    launch.wait_until_it_trains()
    submitting.cluster.run("scancel", launch.job)
    assert launch.end() != 0
    record = launch.record()
    assert (record.outcome, record.reason.split(" after ")[0].split(" ", 3)[3]) == ("preempted", "was cancelled")
    assert record.totals.steps > 0
    dry = submitting.submit("-n", "--", f"results/small/runs/{launch.run_id}/run.sha256").stdout
    assert "train_distributed" in dry


def test_a_node_that_fails_is_named_as_the_cause(submitting: Submitting, both_nodes: None) -> None:
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2 --no-requeue", epochs=ENDLESS, scales=["2x1"])
    launch.wait_until_it_trains()
    submitting.cluster.run("scontrol", "update", "nodename=node2", "state=down", "reason=test")
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert "a node of SLURM job" in record.reason


def test_a_launch_that_dies_without_a_word_is_recorded_by_those_left_behind(
    submitting: Submitting, both_nodes: None
) -> None:
    launch = Launch(submitting, "--slurm-no-requeue", epochs=ENDLESS)
    launch.wait_until_it_trains()
    job = launch.job
    node = submitting.cluster.run("squeue", "--noheader", "--format=%N").strip()
    for pid in processes_of(job):
        os.kill(pid, signal.SIGKILL)
    submitting.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    assert launch.end() != 0
    record = launch.record()
    assert record.outcome == "failed"
    assert f"SLURM job {job}" in record.reason


def processes_of(job: str) -> list[int]:
    """Everything that runs for a job, SLURM's own supervisors included."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes()
            environment = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"SLURM_JOB_ID={job}".encode() in environment or words.startswith(f"slurmstepd: [{job}.".encode()):
            found.append(int(path.name))
    return found


def test_more_memory_than_was_asked_for_is_oom(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1 --mem=400", epochs=ENDLESS)
    launch.end()
    record = launch.record()
    assert record.outcome == "oom"
    assert "more memory was used than the job was given" in record.reason


def test_a_rank_that_is_killed_is_named(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2", epochs=ENDLESS, scales=["2x1"])
    launch.wait_until_it_trains()
    os.kill(launch.ranks()[1], signal.SIGKILL)
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("rank 1 on node")
    assert "ended by SIGKILL" in record.reason


def test_a_rank_that_hangs_is_named_and_the_others_do_not_wait_for_ever(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2", epochs=ENDLESS, scales=["2x1"], stall_limit_s=6)
    launch.wait_until_it_trains()
    stopped = launch.ranks()[1]
    os.kill(stopped, signal.SIGSTOP)
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("rank 1 on node")
    assert "the others waited" in record.reason


def test_a_node_that_never_comes_up_is_not_waited_for_for_ever(submitting: Submitting) -> None:
    (submitting.root / "profiles/site.sh").write_text('[ "$SLURM_NODEID" = 1 ] && sleep 1000\n')
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2", scales=["2x1"], start_limit_s=5)
    launch.end()
    record = launch.record()
    assert (record.outcome, record.reason) == ("failed", "1 of 2 nodes came up within 5 s: node1")


def test_one_node_where_two_were_planned_is_no_number_in_a_table(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", scales=["2x1"])
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("2 nodes are planned, and SLURM job ")
    assert not len(read_observation(submitting.results / "runs" / record.run_id).steps)


def test_gpus_that_torch_does_not_see_are_not_replaced_by_the_processor(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1 --gres=gpu:2", host={"device": "auto"}, scales=["1x2"])
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("this job was given GPUs (CUDA_VISIBLE_DEVICES=0,1), and torch sees none")


def test_two_studies_at_once_do_not_meet(submitting: Submitting) -> None:
    """Both on two nodes, at the same time: ports, locks and directories are each their own."""
    studies = []
    for name in ("left", "right"):
        path = submitting.root / f"{name}.yaml"
        path.write_text(yaml.safe_dump(small_study(study=name, epochs=30, scales=["2x1"])))
        studies.append(submitting.start("snakemake", "--profile", "slurm", *QUICK, "--configfile", path.name))
    wait_for(lambda: sum("RUNNING" in job for job in submitting.cluster.jobs()) >= 3)
    assert [study.wait(timeout=240) for study in studies] == [0, 0]
    for name in ("left", "right"):
        text = (submitting.root / f"results/{name}/performance_report.txt").read_text()
        assert "2 launches: 2 ok." in text
