"""Records runs whose job ended before they could write a record: a node failure, a SIGKILL, a lost controller.

How the job ended is read from SLURM.
"""

import shutil
from pathlib import Path

from scalestudy.launch.attempt import Attempt, UnreadableAttemptError, read_attempt
from scalestudy.launch.foreign.gather import gather
from scalestudy.launch.outcome import memory_kill
from scalestudy.launch.place import kept_record, put_in_place
from scalestudy.launch.slurm.job import Job, read_ended_job, what_became
from scalestudy.record.fingerprint import measuring_fingerprint
from scalestudy.record.host.environment import host_environment
from scalestudy.record.lock import exclusive_now
from scalestudy.record.observation import HELD_DEVICES, read_record
from scalestudy.record.parts import PLANNED, complete, describe, read_parts, vouch, write_data
from scalestudy.record.voucher import VOUCHER
from scalestudy.study.spec import CommandSpec, parse_spec


def settle(results: Path) -> list[str]:
    """Record runs that were cut off in jobs that have ended, and vouch again for complete runs.

    Returns a line for each. Jobs that are running, or will run again, are left alone. So are attempts that were
    cut off on this host: the next attempt notes them. Raises UserError where SLURM does not answer.
    """
    lines = []
    for partial in sorted((results / "runs" / ".partial").glob("*/")):
        try:
            attempt = read_attempt(partial)
        except UnreadableAttemptError:
            continue  # the next attempt reports this and sets it aside
        if attempt and attempt["slurm_job_id"]:
            job = read_ended_job(attempt["slurm_job_id"])
            with exclusive_now(partial.with_suffix(".lock")) as free:
                if free and not job.alive:
                    lines.append(_record(partial, results, job, attempt))
    for path in sorted(results.glob("runs/*/run.json")):
        unknown = not (path.parent / VOUCHER).exists()
        if unknown and vouch(path.parent, read_record(path.parent).outcome):
            lines.append(f"{path.parent.name}: is measured, regardless of how its job ended")
    return lines


def _record(partial: Path, results: Path, job: Job, attempt: Attempt) -> str:
    """Publish what a run has measured, with the end of its job as outcome. Returns a line about it."""
    planned = partial / PLANNED
    if not planned.exists():
        planned = partial / "spec.json"  # an attempt of release 0.2 and before
    if not planned.exists():
        shutil.rmtree(partial)
        return f"{partial.name}: was cut off before its ranks were started"
    spec = parse_spec(planned.read_text(encoding="utf-8"))
    final = results / "runs" / spec.run_id
    if kept_record(final, results) is not None:
        shutil.rmtree(partial)  # another attempt has measured it since
        return f"{spec.run_id}: was measured by another attempt"
    if isinstance(spec, CommandSpec):
        parts, _ = gather(spec, partial, None)
    else:
        parts = read_parts(partial, world_size=spec.world_size)
    log = partial / "log.txt"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if not log.exists():
        log.touch()
    outcome, reason = what_became(job, parts.steps)
    if killed := memory_kill(said) or memory_kill(_job_log(job)):
        outcome, reason = "oom", killed
    write_data(partial, parts)
    record = describe(
        spec,
        parts,
        outcome,
        reason,
        code=attempt["fingerprint"] or measuring_fingerprint(),
        started_at=attempt["started_at"],
        environment=(parts.environment or host_environment() | {"host": attempt["host"]})
        | {"slurm_job_id": job.id}
        | ({HELD_DEVICES: held} if (held := job.held_devices(spec)) else {}),
        earlier=attempt["earlier"],
        log=said,
        protocol=attempt["protocol"],
    )
    complete(partial, record)
    put_in_place(partial, final, results)
    return f"{spec.run_id}: {outcome}: {reason}"


def _job_log(job: Job) -> str:
    """The end of a job's output, where SLURM's daemons print why they killed it."""
    try:
        with Path(job.log).open("rb") as handle:
            handle.seek(max(0, Path(job.log).stat().st_size - 20_000))
            return handle.read().decode(errors="replace")
    except OSError:
        return ""
