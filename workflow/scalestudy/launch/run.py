"""One launch from outside: lock, start, wait, judge, publish. It leaves a whole record or none."""

from __future__ import annotations

import datetime
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from scalestudy.launch.command import rank_command, rank_environment
from scalestudy.launch.guards import look
from scalestudy.launch.lock import host_lock
from scalestudy.launch.outcome import judge
from scalestudy.launch.process import hold_signals, raise_on_signals, run_group
from scalestudy.launch.progress import Progress
from scalestudy.record.environment import host_environment
from scalestudy.record.files import write_text
from scalestudy.record.fingerprint import MEASURING, fingerprint
from scalestudy.record.lock import exclusive
from scalestudy.record.observation import RunRecord, read_record
from scalestudy.record.parts import publish, read_parts, summarise, write_data
from scalestudy.record.say import say
from scalestudy.study.spec import RunSpec

LOG_TAIL_LINES = 20
DATA = Path("resources/data")  # where prepared data stand, unless told otherwise


def measure_run(
    spec: RunSpec, results: Path, *, time_limit_min: float, data: Path = DATA
) -> tuple[RunRecord, bool]:
    """Measure a run into results/runs/<run id>/: (its record, whether it was measured now). data: prepared data.

    A run that is there already, measured by the same code, is kept as it is. One measured by other code is
    set aside under results/superseded/ once the new one is whole. Raises UserError where what is there cannot be
    read, Interrupted (process.py) when told to end; then nothing new stands in results/runs.
    """
    return _keep_or_record(spec, results, lambda partial, code: _launch(spec, partial, code, time_limit_min, data))


def record_unneeded(spec: RunSpec, results: Path, reason: str) -> RunRecord:
    """Record that a launch held in reserve was not made, and why. One that was made before is kept as it is."""
    record, _ = _keep_or_record(spec, results, lambda partial, code: _unneeded(spec, partial, code, reason))
    return record


def _keep_or_record(
    spec: RunSpec, results: Path, make: Callable[[Path, str], RunRecord]
) -> tuple[RunRecord, bool]:
    """(the record of the run, whether it was made now). make: fills a partial directory, by this fingerprint."""
    raise_on_signals()
    final = results / "runs" / spec.run_id
    partial = results / "runs" / ".partial" / spec.run_id
    code = fingerprint(*MEASURING)  # now: an edit while the ranks run is not what they run
    with exclusive(partial.with_suffix(".lock"), waiting=lambda: say("waiting: the run is under way")):
        kept = _kept(final, code)
        if kept is not None:
            return kept, False
        # Nobody else holds the lock, so what lies here was left by a process that was killed.
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            record = make(partial, code)
            hold_signals()
            set_aside(final, results)
            publish(partial, final, record)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return read_record(final), True


def _unneeded(spec: RunSpec, partial: Path, code: str, reason: str) -> RunRecord:
    """The record of a launch that was not made; its data files are there, and empty."""
    write_text(partial / "log.txt", f"{reason}\n")
    parts = read_parts(partial, world_size=spec.world_size)
    write_data(partial, parts)
    return RunRecord(
        run_id=spec.run_id,
        fingerprint=code,
        spec=spec,
        outcome="unneeded",
        reason=reason,
        log_tail=(),
        started_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        environment={},
        stopping=None,
        ranks=(),
        totals=summarise(parts, wall_time_s=0),
        files={},
    )


def set_aside(directory: Path, results: Path) -> Path | None:
    """Move a run directory under results/superseded/, where nothing is overwritten; None if it is not there."""
    if not directory.exists() or not any(directory.iterdir()):
        return None
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = results / "superseded" / f"{directory.name}.{stamp}"
    target.parent.mkdir(parents=True, exist_ok=True)
    directory.rename(target)
    return target


def _kept(final: Path, code: str) -> RunRecord | None:
    """The record of a run that the code of this fingerprint measured, else None."""
    if not (final / "run.json").exists():
        return None
    record = read_record(final)
    return record if record.fingerprint == code and record.outcome != "unneeded" else None


def _launch(spec: RunSpec, partial: Path, code: str, time_limit_min: float, data: Path) -> RunRecord:
    """Start the ranks, wait for them, and describe what became of them; data files are left in `partial`."""
    write_text(partial / "spec.json", spec.to_json())
    log = partial / "log.txt"
    progress = Progress(partial, name=spec.run_id)
    with exclusive(host_lock(), waiting=lambda: say("waiting: another measurement has this host")):
        guard = look(spec, rank_environment(spec))
        for warning in guard.environment["warnings"]:
            say(f"{spec.run_id}: warning: {warning['text']}")
        started = datetime.datetime.now(datetime.UTC)
        begin = time.monotonic()
        exit_code, timed_out = 1, False
        if guard.refused:
            guard.refuse(partial)
        else:
            exit_code, timed_out = run_group(
                rank_command(spec, partial, data),
                environment=rank_environment(spec),
                log=log,
                time_limit_s=time_limit_min * 60,
                watch=progress.watch,
            )
        wall_time_s = time.monotonic() - begin
    progress.close()
    parts = read_parts(partial, world_size=spec.world_size)
    refused = partial / "refused.txt"
    outcome, reason = judge(
        spec,
        reports=parts.reports,
        exit_code=exit_code,
        timed_out_min=time_limit_min if timed_out else None,
        refused=refused.read_text(encoding="utf-8").strip() if refused.exists() else None,
    )
    refused.unlink(missing_ok=True)
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
    write_data(partial, parts)
    return RunRecord(
        run_id=spec.run_id,
        fingerprint=code,
        spec=spec,
        outcome=outcome,
        reason=reason,
        log_tail=() if outcome == "ok" else tuple(tail),
        started_at=started.isoformat(timespec="seconds"),
        environment=(parts.environment or host_environment()) | guard.environment,
        stopping=parts.stopping,
        ranks=parts.reports,
        totals=summarise(parts, wall_time_s=wall_time_s),
        files={},
    )
