"""One launch from outside: lock, start, wait, judge, publish. It leaves a whole record or none."""

from __future__ import annotations

import datetime
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy.launch.attempt import Earlier, begin_attempt, earlier_attempts, repeated
from scalestudy.launch.foreign.files import AllReportedError, Process, read_early_error
from scalestudy.launch.foreign.gather import gather
from scalestudy.launch.foreign.judge import batch_warnings, flaw
from scalestudy.launch.foreign.shared import record_touched, refuse_shared
from scalestudy.launch.foreign.start import ATTACHED, prepare, refusal
from scalestudy.launch.foreign.touched import remember
from scalestudy.launch.nccl_log import facts_of_nccl, read_nccl_logs
from scalestudy.launch.nodes.arrivals import (
    Arrivals,
    NotAllCameError,
    gathered,
    nodes_of_ranks,
    read_nodes,
    read_refusal,
)
from scalestudy.launch.outcome import Evidence, judge, not_ended
from scalestudy.launch.process import Interrupted, hold_signals, raise_on_signals, run_group
from scalestudy.launch.progress import Progress
from scalestudy.launch.starters import Starter, host_lock, make_starter
from scalestudy.record.files import write_text
from scalestudy.record.fingerprint import measuring_fingerprint
from scalestudy.record.host.environment import host_environment
from scalestudy.record.lock import exclusive
from scalestudy.record.observation import (
    HELD_DEVICES,
    PROBES_LEFT_OUT,
    RunRecord,
    most_steps,
    read_record,
)
from scalestudy.record.parts import PLANNED, describe, first_diverged, publish, read_parts, vouch, write_data
from scalestudy.record.probes_failed import probes_failed, warnings_of_probes
from scalestudy.record.say import say
from scalestudy.registry.results import DATA
from scalestudy.study.limits import Limits
from scalestudy.study.spec import CommandSpec, RunSpec

if TYPE_CHECKING:
    from scalestudy.measure.stopping import Look

DEFAULT = Limits()


def measure_run(
    spec: RunSpec, results: Path, *, limits: Limits = DEFAULT, data: Path = DATA, probed: bool = True
) -> tuple[RunRecord, bool]:
    """Measure a run into results/runs/<run id>/: (its record, whether it was measured now). data: prepared data.
    probed: whether it probes communication as its spec says; else it makes no probes, and its record says so.

    A run that is there already is kept as it is, whatever code and protocol measured it. One that was preempted is
    set aside under results/superseded/ once the new one is whole. Raises UserError where what is there cannot be
    read, or where another launch of a script left files that this one would share; Interrupted (process.py) when
    told to end. Then nothing new is in results/runs. Told to end by a scheduler it records that instead.
    """

    def make(partial: Path, code: str, earlier: Earlier) -> RunRecord:
        if isinstance(spec, CommandSpec):
            refuse_shared(spec, results)
        return _launch(spec, partial, code, earlier, limits, data, probed)

    return _keep_or_record(spec, results, make)


def record_unneeded(spec: RunSpec, results: Path, reason: str) -> RunRecord:
    """Record that a launch held in reserve was not made, and why. One that was made before is kept as it is."""
    record, _ = _keep_or_record(spec, results, lambda partial, code, _: _unneeded(spec, partial, code, reason))
    return record


def _keep_or_record(
    spec: RunSpec, results: Path, make: Callable[[Path, str, Earlier], RunRecord]
) -> tuple[RunRecord, bool]:
    """(the record of the run, whether it was made now).

    make: fills a partial directory; it is told the fingerprint of the code, and the earlier attempts.
    """
    raise_on_signals()
    final = results / "runs" / spec.run_id
    partial = results / "runs" / ".partial" / spec.run_id
    with exclusive(partial.with_suffix(".lock"), waiting=lambda: say("waiting: the run is under way")):
        kept = _kept(final)
        if kept is not None:
            vouch(final, kept.outcome)
            return kept, False
        code = measuring_fingerprint()  # now: an edit while the ranks run is not what they run
        # Nobody else holds the lock, so what lies here was left by a process that was killed.
        earlier = earlier_attempts(partial, final)
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir(parents=True)
            begin_attempt(partial, earlier)
            record = make(partial, code, earlier)
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
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return describe(spec, parts, "unneeded", reason, code=code, started_at=now, environment={})


def set_aside(directory: Path, results: Path) -> Path | None:
    """Move a run directory under results/superseded/, where nothing is overwritten; None if it is not there."""
    if not directory.exists() or not any(directory.iterdir()):
        return None
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = results / "superseded" / f"{directory.name}.{stamp}"
    target.parent.mkdir(parents=True, exist_ok=True)
    directory.rename(target)
    return target


def _kept(final: Path) -> RunRecord | None:
    """The record of a run that need not be made again, else None."""
    if not (final / "run.json").exists():
        return None
    record = read_record(final)
    return record if record.outcome not in ("unneeded", "preempted") else None


def _launch(
    spec: RunSpec, partial: Path, code: str, earlier: Earlier, limits: Limits, data: Path, probed: bool
) -> RunRecord:
    """Start the ranks, wait for them, and describe what became of them; data files are left in `partial`."""
    write_text(partial / PLANNED, spec.to_json())
    write_text(partial / "spec.json", (spec if probed else spec.without_probes).to_json())
    results = partial.parents[2]
    if isinstance(spec, CommandSpec):
        prepare(spec, partial)
    starter = make_starter(forks=spec.host.start == "fork")
    with exclusive(host_lock(), waiting=lambda: say("waiting: another measurement has this host")):
        limits = starter.limits(limits)
        surroundings = starter.environment(spec, partial)
        guard = starter.look(spec, surroundings)
        if guard:
            _warn(spec, guard.environment)
        refused = starter.refuse(spec) or (guard.refused if guard else None)
        if isinstance(spec, CommandSpec):
            refused = refused or refusal(spec)
            remember(spec, partial, results)
        started = datetime.datetime.now(datetime.UTC)
        begin = time.monotonic()
        ended = _refuse(partial, refused) if refused else _run(spec, starter, partial, limits, data, surroundings)
        wall_time_s = time.monotonic() - begin
        shared = record_touched(spec, partial, results) if isinstance(spec, CommandSpec) else []
    processes: list[Process] = []
    if isinstance(spec, CommandSpec):
        parts, processes = gather(spec, partial, ended.look)
    else:
        parts = read_parts(partial, world_size=spec.world_size)
    taken = None
    if ended.interrupted:
        taken = starter.took(ended.interrupted.signum, most_steps(parts.reports))
        if taken is None:
            raise ended.interrupted
    log = (partial / "log.txt").read_text(encoding="utf-8", errors="replace")
    said_by_nccl = f"{log}\n{read_nccl_logs(partial)}"
    outcome, reason = judge(
        spec,
        Evidence(
            reports=parts.reports,
            exit_code=ended.exit_code,
            log=said_by_nccl,
            limits=limits,
            timed_out=ended.timed_out,
            refused=ended.refused or read_refusal(partial) or read_early_error(partial / ATTACHED),
            taken=taken,
            nodes=nodes_of_ranks(partial),
            diverged_first=first_diverged(parts.tables["steps"]),
        ),
    )
    if isinstance(spec, CommandSpec) and outcome == "ok" and (wrong := flaw(spec, partial, processes)):
        outcome, reason = "failed", wrong
    of_batches = batch_warnings(spec, processes) if isinstance(spec, CommandSpec) and outcome == "ok" else []
    place = guard.environment if guard else gathered(read_nodes(partial))
    noted = warnings_of_probes(partial, parts.environment)
    if not probes_failed(partial) and outcome == "ok" and not isinstance(spec, CommandSpec):
        noted += not_ended(ended.exit_code)
    place["warnings"] = [*place["warnings"], *repeated(earlier), *shared, *of_batches, *noted]
    if held := starter.held_devices(spec):
        place |= {HELD_DEVICES: held}
    place |= facts_of_nccl(said_by_nccl)
    if not probed:
        place |= {PROBES_LEFT_OUT: True}
    if not guard:
        _warn(spec, place)
    write_data(partial, parts)
    return describe(
        spec,
        parts,
        outcome,
        reason,
        code=code,
        started_at=started.isoformat(timespec="seconds"),
        environment=(parts.environment or host_environment()) | place,
        earlier=earlier,
        log=log,
        wall_time_s=wall_time_s,
    )


def _warn(spec: RunSpec, place: dict[str, Any]) -> None:
    for warning in place["warnings"]:
        say(f"{spec.run_id}: warning: {warning['text']}")


@dataclass(frozen=True)
class _Ended:
    """How the processes of a launch ended, as seen from outside."""

    exit_code: int = 1
    timed_out: bool = False
    refused: str | None = None
    interrupted: Interrupted | None = None
    look: Look | None = None
    """The last one at the steps of a script, while it ran."""


def _refuse(partial: Path, sentence: str) -> _Ended:
    """No process is started where there is nothing right to measure."""
    write_text(partial / "log.txt", f"{sentence}\n")
    return _Ended(refused=sentence)


def _run(
    spec: RunSpec, starter: Starter, partial: Path, limits: Limits, data: Path, environment: dict[str, str]
) -> _Ended:
    """Start all processes and wait until they have ended. environment: of the ranks, or of what starts them."""
    progress = Progress(partial, name=spec.run_id)
    arrivals = Arrivals(partial, nodes=spec.nodes if starter.remote else 0, limit_s=limits.start_limit_s)

    script = None
    if isinstance(spec, CommandSpec):
        from scalestudy.launch.foreign.watch import CommandWatch  # it needs scipy, as no other launch does

        script = CommandWatch(spec, partial, stall_limit_s=limits.stall_limit_s)

    def watch() -> float | None:
        progress.watch()
        arrivals.check()
        return script.check() if script else None

    try:
        exit_code, timed_out = run_group(
            starter.command(spec, partial, data, limits),
            environment=environment,
            log=partial / "log.txt",
            time_limit_s=limits.time_limit_min * 60,
            watch=watch,
            end=starter.ender(partial),
            directory=spec.directory if isinstance(spec, CommandSpec) and not starter.remote else None,
        )
        return _Ended(exit_code, timed_out, look=script.look if script else None)
    except AllReportedError:
        return _Ended(0, look=script.look if script else None)
    except NotAllCameError as error:
        return _Ended(refused=str(error))
    except Interrupted as stop:
        hold_signals()  # whatever is known is to be written now
        return _Ended(interrupted=stop)
    finally:
        progress.close()
