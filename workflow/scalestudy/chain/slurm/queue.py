"""Reads from SLURM the status of the jobs that a workflow submitted."""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from scalestudy.launch.slurm.ask import ask, words

LIMIT_S = 60
"""Time limit of a query to the controller."""
ACCOUNTING_S = 30
FORGOTTEN = "FORGOTTEN"
"""The state of a job that neither the controller nor the accounting, where there is one, lists any more."""
AGAIN_S = 120
"""Seconds within which SLURM requeues a job that was preempted, or whose node failed."""
WAITING = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "SUSPENDED")
ENDED = (
    "COMPLETED",
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "ERROR",
    "FAILED",
    "LAUNCH_FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
)
MAY_COME_BACK = ("PREEMPTED", "NODE_FAIL", "BOOT_FAIL")


class NoAnswerError(Exception):
    """SLURM did not answer; the text is the message of its command."""


@dataclass(frozen=True)
class Status:
    """The current status of a job."""

    state: str
    """SLURM's code, or FORGOTTEN."""
    reason: str = ""
    """Why it waits or how it ended, as SLURM's code; may be empty."""
    nodes: str = ""
    comment: str = ""
    """The comment of its submission."""


class Queue:
    """The jobs of one workflow, which have a common name."""

    def __init__(self, name: str, *, accounting_first: bool = False, requeued: bool = True) -> None:
        """accounting_first: query sacct, and squeue for jobs that sacct does not list; else the other way round.

        requeued: whether SLURM may requeue jobs that were preempted or whose node failed.
        """
        self._name, self._accounting_first, self._requeued = name, accounting_first, requeued
        self._ended_since: dict[str, float] = {}

    def look(self, jobs: Collection[str], clusters: Iterable[str] = ()) -> dict[str, Status]:
        """Job -> status, for all of these jobs. Raises NoAnswerError where SLURM does not answer."""
        known: dict[str, Status] = {}
        if self._accounting_first:
            known = self._accounted(jobs)
        if missing := set(jobs) - set(known):
            listed = self.listed(clusters)
            known |= {job: listed[job] for job in missing & set(listed)}
            missing -= set(listed)
            if missing and not self._accounting_first:
                known |= self._accounted(missing)
        return {job: self._settled(job, known.get(job, Status(FORGOTTEN))) for job in jobs}

    def listed(self, clusters: Iterable[str] = ()) -> dict[str, Status]:
        """Job -> status, for all jobs of the workflow that the controller lists. Raises NoAnswerError."""
        elsewhere = ",".join(sorted(clusters))
        done = ask(
            "squeue",
            "--noheader",
            "--array",
            "--states=all",
            f"--name={self._name}",
            "--format=%i|%T|%r|%N|%k",
            *([f"--clusters={elsewhere}"] if elsewhere else []),
            limit_s=LIMIT_S,
        )
        if done.returncode:
            raise NoAnswerError(f"squeue: {words(done.stderr)}")
        rows = [line.split("|", 4) for line in done.stdout.splitlines() if line.count("|") >= 4]
        return {
            job.strip(): Status(state.strip(), "" if reason in ("None", "(null)") else reason, nodes, comment)
            for job, state, reason, nodes, comment in rows
        }

    def _accounted(self, jobs: Iterable[str]) -> dict[str, Status]:
        """Job -> status, from the accounting; empty where there is none, or where it does not answer."""
        done = ask(
            "sacct",
            "--noheader",
            "--allocations",
            "--parsable2",
            f"--jobs={','.join(sorted(jobs))}",
            "--format=JobID,State,NodeList",
            limit_s=ACCOUNTING_S,
        )
        rows = [line.split("|", 2) for line in done.stdout.splitlines() if line.count("|") >= 2]
        if done.returncode:
            return {}
        # "CANCELLED by 1000": the state, and who cancelled it.
        return {
            job: Status(state.split()[0], " ".join(state.split()[1:]), nodes)
            for job, state, nodes in rows
            if state
        }

    def _settled(self, job: str, status: Status) -> Status:
        """The status; for AGAIN_S seconds it is REQUEUED if SLURM may requeue the job."""
        if status.state not in MAY_COME_BACK or not self._requeued:
            self._ended_since.pop(job, None)
            return status
        since = self._ended_since.setdefault(job, time.monotonic())
        return status if time.monotonic() - since > AGAIN_S else Status("REQUEUED", status.state, status.nodes)
