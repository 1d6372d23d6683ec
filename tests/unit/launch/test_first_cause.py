"""Which rank is named if several report an error: the rank that the others waited for."""

from __future__ import annotations

from typing import Any

import pytest
from builders import observation
from scalestudy.launch.outcome import Evidence, judge, memory_kill
from scalestudy.record.observation import RankReport
from scalestudy.study.config.load import parse_study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

NODES = {0: "node1", 1: "node2"}
# As torchrun prints it.
KILLED = """\
============================================================
scalestudy.train FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-21_15:00:00
  host      : here
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 11)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-21_15:00:00
  host      : here
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 12)
"""


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    """A run of two ranks."""
    return next(s for s in make_plan(parse_study(content, source="x")).runs.values() if s.world_size == 2)


def reason_of(spec: RunSpec, reports: dict[int, dict[str, Any]], **changes: Any) -> str:
    ranks: list[RankReport] = list(observation(spec, [[0.001] * 5] * 2).record.ranks)
    mine = tuple(ranks[rank].model_copy(update={"outcome": "failed"} | said) for rank, said in reports.items())
    found = Evidence(
        reports=mine, exit_code=1, log="", limits=Limits(stall_limit_s=7, start_limit_s=5), nodes=NODES
    )
    outcome, reason = judge(spec, Evidence(**(vars(found) | changes)))
    assert outcome == "failed"
    return reason


WAITED = {"reason": "7 s without an answer, in backward", "waited": True}


def test_a_rank_that_is_silent_while_others_wait(spec: RunSpec) -> None:
    reason = reason_of(spec, {0: WAITED})
    assert reason == "rank 1 on node2 left no report; exit code 1; the others waited for it"


def test_a_rank_that_was_killed_and_one_that_torchrun_ended(spec: RunSpec) -> None:
    reason = reason_of(spec, {}, log=KILLED)
    assert reason.startswith("rank 1 on node2 left no report; ended by SIGKILL")


FRAMES = 'Traceback (most recent call last):\n  File "rank.py", line 15, in <module>\n    import torch\n'
LIBRARY = "ImportError: libcudart.so.13: cannot open shared object file"
OF_TORCHRUN = FRAMES + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (f"{FRAMES}{LIBRARY}\n", f": {LIBRARY}"),
        (f"{FRAMES}KeyError: 'a'\n\nDuring handling of it:\n\n{FRAMES}{LIBRARY}\n{OF_TORCHRUN}", f": {LIBRARY}"),
        (f"{FRAMES}AssertionError\n", ": AssertionError"),
        (f"{FRAMES}ValueError: {'x' * 400}\n", f": ValueError: {'x' * 285}..."),
        (OF_TORCHRUN, ""),
        (f"{LIBRARY}\n", ""),
    ],
    ids=["one", "a chain, and torchrun's", "without a message", "long", "only torchrun's", "no traceback"],
)
def test_the_exception_that_ended_ranks_before_they_could_report(spec: RunSpec, log: str, said: str) -> None:
    assert reason_of(spec, {}, log=log) == f"ranks 0, 1 left no report; exit code 1{said}"


def test_an_exception_in_the_log_of_ranks_that_reported_is_not_that_of_the_silent_one(spec: RunSpec) -> None:
    assert LIBRARY not in reason_of(spec, {0: WAITED}, log=f"{FRAMES}{LIBRARY}\n")


STOPPED = {"outcome": "timeout", "reason": "stopped by SIGTERM", "waited": False}


@pytest.mark.parametrize("reports", [{}, {1: STOPPED}], ids=["none", "the other rank"])
def test_ranks_that_sigterm_ended_before_they_could_report(
    spec: RunSpec, reports: dict[int, dict[str, Any]]
) -> None:
    ended = [
        f"rank : {rank} (local_rank: {rank})\n  exitcode : {-15 if rank not in reports else 1}" for rank in (0, 1)
    ]
    reason = reason_of(spec, reports, log="\n".join(ended).replace(" :", "      :"))
    assert reason.startswith("rank 0 on node1 was stopped by SIGTERM before any rank had failed")


def test_a_rank_that_stands_still_by_itself(spec: RunSpec) -> None:
    own = {"reason": "rank 1 on node2 did not move on for 7 s; it was in sleep (user.py:3)", "waited": False}
    assert reason_of(spec, {0: WAITED, 1: own}) == own["reason"]


def test_a_rank_that_was_busy_elsewhere(spec: RunSpec) -> None:
    """It got SIGTERM during something that never ended."""
    reason = reason_of(
        spec, {0: WAITED, 1: {"outcome": "timeout", "reason": "stopped by SIGTERM", "waited": False}}
    )
    assert reason.startswith("rank 1 on node2 did not arrive where the others waited")


def test_all_ranks_wait(spec: RunSpec) -> None:
    assert reason_of(spec, {0: WAITED, 1: WAITED}).startswith("every rank waited for the others in a collective")


@pytest.mark.parametrize(("counts", "named"), [((70, 64), True), ((64, 64), False), ((70, None), False)])
def test_of_devices_that_are_all_busy_the_one_behind_is_named(
    spec: RunSpec, counts: tuple[int, int | None], named: bool
) -> None:
    """Its stream is busy with work of its own, or with a collective that the others are past."""
    reports = {rank: WAITED | {"begun": begun} for rank, begun in enumerate(counts)}
    reason = reason_of(spec, reports)
    if named:
        assert reason.startswith(
            "rank 1 on node2 did not arrive where the others waited: it had begun 64 steps, the others 70"
        )
    else:
        assert reason.startswith("every rank waited for the others in a collective")


def test_what_nccl_warned_of_is_part_of_the_reason(spec: RunSpec) -> None:
    log = "node1:7:9 [0] init.cc:573 NCCL WARN Cuda failure 'out of memory'\n"
    reason = reason_of(spec, {0: WAITED, 1: WAITED}, log=log)
    assert reason.endswith("; NCCL warned: Cuda failure 'out of memory'")


def test_a_peer_that_is_gone_is_no_cause(spec: RunSpec) -> None:
    lost = {"reason": "rank 0: RuntimeError: Connection closed by peer", "waited": True}
    own = {"reason": "rank 1: ValueError: x", "waited": False}
    assert reason_of(spec, {0: lost, 1: own}) == "rank 1: ValueError: x"


def test_the_rank_whose_loss_was_no_number_first(spec: RunSpec) -> None:
    """A step later the gradients of all ranks are none, and each continues to the end of its block."""
    ranks = observation(spec, [[0.001] * 5] * 2).record.ranks
    said = ("loss is nan at step 31 on rank 0", "loss is nan at step 30 on rank 1")
    reports = tuple(
        rank.model_copy(update={"outcome": "diverged", "reason": text})
        for rank, text in zip(ranks, said, strict=True)
    )
    found = Evidence(reports=reports, exit_code=1, log="", limits=Limits(), diverged_first=1)
    assert judge(spec, found) == ("diverged", said[1])


def test_a_rank_that_somebody_stopped(spec: RunSpec) -> None:
    stopped = {"outcome": "timeout", "reason": "stopped by SIGTERM"}
    log = "rank      : 1 (local_rank: 1)\n  exitcode  : 1\n"
    reason = reason_of(spec, {0: stopped, 1: stopped}, log=log)
    assert reason == "rank 1 on node2 was stopped by SIGTERM before any rank had failed; exit code 1"


def test_nodes_that_do_not_meet(spec: RunSpec) -> None:
    reason = reason_of(spec, {}, log="torch...RendezvousTimeoutError")
    assert reason.startswith("the ranks did not complete their rendezvous within 5 s")


def test_a_step_that_slurm_does_not_start(spec: RunSpec) -> None:
    log = "srun: error: Unable to create step for job 3: More processors requested than permitted"
    assert reason_of(spec, {}, log=log) == (
        "SLURM did not start the run: Unable to create step for job 3: More processors requested than permitted"
    )


def test_a_job_that_took_the_launch_with_it(spec: RunSpec) -> None:
    found = Evidence(
        reports=(), exit_code=143, log="", limits=Limits(), taken=("preempted", "SLURM job 7 was cancelled")
    )
    assert judge(spec, found) == ("preempted", "SLURM job 7 was cancelled")


@pytest.mark.parametrize(
    "line",
    [
        "slurmstepd: error: Job 7 exceeded memory limit (700M > 400M), being killed",
        "slurmstepd: error: Step 7.0 exceeded memory limit (700 > 400), being killed",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed.",
    ],
)
def test_a_kill_for_memory_is_told_from_the_schedulers_words(spec: RunSpec, line: str) -> None:
    assert memory_kill("other\n" + line) is not None
    outcome, reason = judge(spec, Evidence(reports=(), exit_code=1, log=line, limits=Limits()))
    assert outcome == "oom"
    assert reason.startswith("the job used more memory than it was allocated: ")


def test_a_rank_that_stood_still_is_named_with_the_limit_and_not_blamed_on_memory(spec: RunSpec) -> None:
    """As SIGSTOP leaves it: the other rank waits until its limit, and the stopped rank can only be killed."""
    first, _ = observation(spec, [[0.001] * 5] * 2).record.ranks
    gave_up = first.model_copy(update={"outcome": "failed", "stalled_s": 7.0, **WAITED})
    log = "rank      : 0 (local_rank: 0)\n  exitcode  : 1\nrank      : 1 (local_rank: 1)\n  exitcode  : -9\n"
    for kills in (0, None):
        outcome, reason = judge(
            spec, Evidence((gave_up,), 1, log, Limits(stall_limit_s=7), nodes=NODES, oom_kills=kills)
        )
        assert outcome == "failed"
        assert reason.startswith(
            "rank 1 on node2 made no progress: rank 0 on node1 waited 7 s (stall_limit_s) for it"
        )
        assert "memory" not in reason


@pytest.mark.parametrize(("kills", "outcome"), [(1, "oom"), (0, "failed"), (None, "failed")])
def test_the_out_of_memory_killer_is_named_where_the_kernel_counted_it(
    spec: RunSpec, kills: int | None, outcome: str
) -> None:
    log = "rank      : 1 (local_rank: 1)\n  exitcode  : -9\n"
    found, reason = judge(spec, Evidence((), 1, log, Limits(), nodes=NODES, oom_kills=kills))
    assert found == outcome
    assert reason.startswith("rank 1 on node2 left no report; ended by SIGKILL")
    assert ("the kernel's out-of-memory killer ended 1 process(es) meanwhile" in reason) == (kills == 1)


def test_ranks_that_had_said_all_when_the_time_was_up_are_whole(spec: RunSpec) -> None:
    whole = observation(spec, [[0.001] * 5] * 2).record.ranks
    assert judge(spec, Evidence(whole, 1, "", Limits(), timed_out=True)) == ("ok", "")


def test_a_rank_that_was_stopped_is_the_cause_and_not_one_that_lost_it(spec: RunSpec) -> None:
    lost = {"reason": "rank 0: RuntimeError: Connection closed by peer", "waited": True}
    stopped = {"outcome": "timeout", "reason": "stopped by SIGTERM"}
    log = "rank      : 1 (local_rank: 1)\n  exitcode  : 1\nrank      : 0 (local_rank: 0)\n  exitcode  : 1\n"
    reason = reason_of(spec, {0: lost, 1: stopped}, log=log)
    assert reason == "rank 1 on node2 was stopped by SIGTERM before any rank had failed; exit code 1"
    gave_up = {"reason": "7 s without an answer, in backward", "waited": True, "stalled_s": 7.0}
    assert "did not arrive where the others waited" in reason_of(spec, {0: gave_up, 1: stopped}, log=log)
