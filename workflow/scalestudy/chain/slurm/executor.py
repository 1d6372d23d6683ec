"""SLURM as the executor of a workflow: Snakemake's plug-in, extended to continue when SLURM does not answer.

The plug-in (2.8.0) forgets jobs when a status query fails, and Snakemake then waits for them forever. It also
waits forever for an ended job that the controller no longer lists, and it does not report why jobs wait, were
refused or failed.
"""

import asyncio
import shlex
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from functools import cached_property
from typing import Any

import snakemake_executor_plugin_slurm as plugin
from snakemake_executor_plugin_slurm import Executor
from snakemake_executor_plugin_slurm.utils import get_job_wildcards
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from scalestudy.chain.slurm.advice import NO_ROOM, ORDINARY, why_it_waits, with_key
from scalestudy.chain.slurm.outage import NO_ROOM as NO_ROOM_SAID
from scalestudy.chain.slurm.outage import Outage
from scalestudy.chain.slurm.partitions import Partition, in_partitions, read_partitions
from scalestudy.chain.slurm.queue import ENDED, FORGOTTEN, WAITING, NoAnswerError, Queue, Status
from scalestudy.chain.slurm.submission import (
    asked_by,
    is_done,
    is_elsewhere,
    is_sure,
    name_of,
    note,
    partition_of,
    sbatch_words,
)
from scalestudy.launch.slurm.ask import AGAIN_S, is_away

SLOWER_S = 10
"""Seconds that are added to the time between status checks each time that no job has ended, up to RAREST_S."""
RAREST_S = 180


# Runs are groups of jobs, which the plug-in never submits as arrays. It would not start where SLURM has no arrays.
plugin.get_max_array_size = lambda: 1000


class PatientExecutor(Executor):
    """The plug-in's executor, which forgets no job and reports whatever keeps a job from running."""

    def __init__(self, workflow: Any, logger: Any) -> None:
        # First, since the plug-in's __init__ starts a thread that checks jobs.
        self._outage = Outage(logger.warning)
        self._room = Outage(logger.warning, NO_ROOM_SAID)
        self._stopping = threading.Event()
        self._attempt = threading.local()
        self._under_way: dict[str, SubmittedJobInfo] = {}
        self._known: set[str] = set()
        self._waiting: dict[str, str] = {}
        self._forgotten_since: dict[str, float] = {}
        super().__init__(workflow, logger)

    # --- submitting

    def run_job(self, job: Any) -> None:
        """Submit a job as soon as SLURM answers."""
        try:
            self._submit(job)
        except Exception as error:  # this thread would lose the error, and the job with it
            # The plug-in reads the rule of a group when it reports an error, which raises an AttributeError.
            cause = error.__context__ if isinstance(error, AttributeError) and error.__context__ else error
            self._report_job_error_threadsafe(SubmittedJobInfo(job), str(cause))

    def _submit(self, job: Any) -> None:
        tried = False
        while not self._stopping.is_set():
            try:
                listed = self._queue.listed(self._submitted_job_clusters)
            except NoAnswerError as error:
                self._outage.begins(str(error))
                self._stopping.wait(AGAIN_S)
                continue
            self._outage.ends()
            if tried and self._adopted(job, listed):
                return
            if why := self._impossible(job):
                self._report_job_error_threadsafe(SubmittedJobInfo(job), why)
                return
            tried, said = True, self._said_by_plugin(job)
            if not said:
                self._room.ends()
                return
            why_not = sbatch_words(said)
            if NO_ROOM.search(why_not):  # before the outage: sbatch calls it temporary too
                self._room.begins(why_not)
            elif is_away(why_not):
                self._outage.begins(why_not)
            else:
                self._report_job_error_threadsafe(SubmittedJobInfo(job), said)
                return
            self._stopping.wait(AGAIN_S)

    def _said_by_plugin(self, job: Any) -> str:
        """Submit a job with the plug-in. Returns why this failed; '' if it did not."""
        self._attempt.said = ""
        self._attempt.runs = True
        try:
            super().run_job(job)
        finally:
            self._attempt.runs = False
        return str(self._attempt.said)

    def _adopted(self, job: Any, listed: Mapping[str, Status]) -> bool:
        """Whether SLURM has accepted a job although it did not answer at the submission; if so, report it."""
        wildcards = get_job_wildcards(job)
        comment = f"rule_{job.name}" + (f"_wildcards_{wildcards}" if wildcards else "")
        for found, status in listed.items():
            if status.comment == comment and found not in self._known:
                kind = f"{'group' if job.is_group() else 'rule'}_{job.name}"
                log = self.slurm_logdir / kind / wildcards / f"{found}.log"
                self.logger.info(f"SLURM has accepted {name_of(job)} as job {found} (log: {log}).")
                submitted = SubmittedJobInfo(job, external_jobid=found, aux={"slurm_logfile": log})
                self._report_job_submission_threadsafe(submitted)
                return True
        return False

    def _impossible(self, job: Any) -> str:
        """Why no node can ever fulfil a job's request; '' where one may. What is not certain becomes a warning."""
        if is_elsewhere(job) or self._partitions:
            return ""
        lacking = "; ".join(in_partitions(asked_by(job), partition_of(job), self._offers))
        if not lacking or is_sure(job, self.workflow.executor_settings):
            return lacking
        self.logger.warning(f"{name_of(job)} may never start: {lacking}")
        return ""

    @cached_property
    def _offers(self) -> dict[str, Partition]:
        return read_partitions()

    def get_account_arg(self, job: Any) -> Any:
        """The option for the account that a job names; without it SLURM uses the user's default account.

        SLURM checks the account. The plug-in would query the accounting first, without a time limit; some sites do
        not have one.
        """
        account = str(job.resources.get("slurm_account") or "").replace(",", " ").split()
        return iter([f" -A {shlex.quote(account[0])}" if account else ""])

    def _report_job_error_threadsafe(self, job_info: SubmittedJobInfo, msg: str) -> None:
        if getattr(self._attempt, "runs", False):
            self._attempt.said = msg
        else:
            super()._report_job_error_threadsafe(job_info, msg)

    def report_job_submission(self, job_info: SubmittedJobInfo, register_job: bool = True) -> None:
        """Remember a job until its end is reported."""
        self._known.add(job_info.external_jobid)
        self._under_way[job_info.external_jobid] = job_info
        super().report_job_submission(job_info, register_job)

    # --- looking

    @cached_property
    def _queue(self) -> Queue:
        requeued = not self.workflow.executor_settings.no_requeue
        return Queue(self.run_uuid, accounting_first=self.get_status_command() == "sacct", requeued=requeued)

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncGenerator[SubmittedJobInfo]:
        """Report jobs that have ended, and yield all others. Snakemake forgets a job that is not yielded."""
        first = self.workflow.executor_settings.init_seconds_before_status_checks
        if not active_jobs:
            self.next_seconds_between_status_checks = first
            return
        jobs = [job.external_jobid for job in active_jobs]
        try:
            found = await asyncio.to_thread(self._queue.look, jobs, self._submitted_job_clusters)
        except Exception as error:  # whatever the error, the jobs still exist
            self._outage.begins(str(error))
            self.next_seconds_between_status_checks = min(first, AGAIN_S)
            for job in active_jobs:
                yield job
            return
        self._outage.ends()
        self._say_what_waits(found)
        ended = False
        for job in active_jobs:
            if self._has_ended(job, found[job.external_jobid]):
                ended = True
                self._under_way.pop(job.external_jobid, None)
            else:
                yield job
        slower = min(self.next_seconds_between_status_checks + SLOWER_S, RAREST_S)
        self.next_seconds_between_status_checks = first if ended else slower

    def _has_ended(self, job: SubmittedJobInfo, status: Status) -> bool:
        """Whether a job has ended; if so, report it."""
        if status.state == FORGOTTEN:
            return self._has_ended_unseen(job)
        self._forgotten_since.pop(job.external_jobid, None)
        if status.state not in ENDED:
            return False
        if status.state == "COMPLETED":
            self._succeeded(job)
            return True
        if status.state == "NODE_FAIL" and status.nodes:
            self._failed_nodes.add(status.nodes)
        if status.state != "CANCELLED" and is_done(job.job):  # as after a controller that did not see the end
            self.logger.info(
                f"SLURM job {job.external_jobid} ended as {status.state}, but all of its runs are measured."
            )
            self._succeeded(job)
            return True
        self._failed(job, f"ended as {status.state}" + (f" ({status.reason})" if status.reason else ""))
        return True

    def _has_ended_unseen(self, job: SubmittedJobInfo) -> bool:
        """The same for a job that SLURM no longer lists, judged by its files, which may take a while to appear."""
        if is_done(job.job):
            self._succeeded(job)
            return True
        since = self._forgotten_since.setdefault(job.external_jobid, time.monotonic())
        if time.monotonic() - since < self.workflow.execution_settings.latency_wait:
            return False
        self._failed(job, "has ended, and SLURM has no record of how it ended")
        return True

    def _succeeded(self, job: SubmittedJobInfo) -> None:
        if not self.workflow.executor_settings.keep_successful_logs:
            job.aux["slurm_logfile"].unlink(missing_ok=True)
        self.report_job_success(job)

    def _failed(self, job: SubmittedJobInfo, how: str) -> None:
        log = str(job.aux["slurm_logfile"])
        self.report_job_error(job, msg=f"SLURM job {job.external_jobid} {how}", aux_logs=[log])

    def _say_what_waits(self, found: Mapping[str, Status]) -> None:
        """Log a line for each reason for which jobs have begun to wait since the last check."""
        lines: dict[str, list[str]] = {}
        for job, status in found.items():
            reason = status.reason if status.state in WAITING else None
            kind = None if reason is None else "its turn" if reason in ORDINARY else reason
            if kind is not None and kind != self._waiting.get(job):
                lines.setdefault(why_it_waits(job, reason or status.state), []).append(job)
            if kind is None:
                self._waiting.pop(job, None)
            else:
                self._waiting[job] = kind
        for why, jobs in lines.items():
            self.logger.warning(f"SLURM job{'s' * (len(jobs) > 1)} {', '.join(jobs)}: {why}")

    def report_job_error(self, job_info: SubmittedJobInfo, msg: str | None = None, **more: Any) -> None:
        """Report why a job failed, also in the logs of unfinished runs. Snakemake gives no reason for groups."""
        said = sbatch_words(msg or "no reason was given")
        job = job_info.external_jobid
        line = f"{'Failed' if job else 'Not submitted'}: {name_of(job_info.job)}: {with_key(said)}"
        self.logger.error(line)
        note(job_info.job, line)
        super().report_job_error(job_info, msg=f"{line}\n", **more)

    # --- ending

    async def sleep(self) -> None:
        """Sleep until the next check, or until there are no more jobs."""
        until = time.monotonic() + self.next_seconds_between_status_checks
        while self.wait and time.monotonic() < until:
            await asyncio.sleep(min(0.5, max(0.0, until - time.monotonic())))

    def cancel(self) -> None:
        """Cancel all jobs, and submit no more."""
        self._stopping.set()
        super().cancel()

    def shutdown(self) -> None:
        self._stopping.set()
        super().shutdown()

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Cancel all jobs that have not ended, including those that are being checked."""
        jobs = list(self._under_way.values())
        try:
            super().cancel_jobs(jobs)
        except WorkflowError as error:
            left = " ".join(job.external_jobid for job in jobs)
            self.logger.error(f"{error}. Jobs may still be in the queue; to cancel them: scancel {left}")
