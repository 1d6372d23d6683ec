"""Measures one run, from outside its ranks: lock, start, wait, judge, publish. Leaves a whole record or none."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy.launch.attempt import Earlier, begin_attempt, repeated
from scalestudy.launch.beside.load import LaunchWatch, loads_of_nodes, measured_of
from scalestudy.launch.foreign.files import AllReportedError, Process, read_early_error
from scalestudy.launch.foreign.gather import gather
from scalestudy.launch.foreign.judge import batch_warnings, flaw
from scalestudy.launch.foreign.shared import record_touched, refuse_shared
from scalestudy.launch.foreign.start import ATTACHED, prepare, refusal
from scalestudy.launch.foreign.touched import remember
from scalestudy.launch.guards.moment import look_when_quiet
from scalestudy.launch.nccl_log import facts_of_nccl, read_nccl_logs
from scalestudy.launch.nodes.arrivals import (
    Arrivals,
    NotAllCameError,
    gathered,
    nodes_of_ranks,
    read_nodes,
    read_refusal,
)
from scalestudy.launch.outcome import Evidence, judge, not_ended, over_time
from scalestudy.launch.place import kept_record, new_attempt, put_in_place, take_over
from scalestudy.launch.process import Interrupted, hold_signals, raise_on_signals, run_group
from scalestudy.launch.progress import Progress
from scalestudy.launch.slurm.job import NoControllerError, job_id
from scalestudy.launch.starters import Starter, host_lock, make_starter
from scalestudy.launch.unmade import not_made
from scalestudy.record.files import write_text
from scalestudy.record.fingerprint import measuring_fingerprint
from scalestudy.record.host.cgroup import oom_kills
from scalestudy.record.host.environment import host_environment
from scalestudy.record.lock import exclusive
from scalestudy.record.observation import (
    HELD_DEVICES,
    PROBES_LEFT_OUT,
    RunRecord,
    read_record,
)
from scalestudy.record.parts import PLANNED, complete, describe, first_diverged, read_parts, vouch, write_data
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
    """Measure a run into results/runs/<run id>/. Returns (its record, whether it was measured now).

    data: prepared data. probed: whether communication is probed as the spec requests; without probes the record
    notes that they were left out. An existing record is kept unchanged, whatever code and protocol measured it. A
    preempted one is moved to results/superseded/ once the new record is complete.

    Raises UserError where the existing record cannot be read, or where another run of a script left files that
    this one would share. Raises Interrupted (process.py) on a signal, with nothing new in results/runs; where the
    signal came from a scheduler, this is recorded instead.
    """

    def make(partial: Path, code: str, earlier: Earlier) -> RunRecord:
        if isinstance(spec, CommandSpec):
            refuse_shared(spec, results)
        return _launch(spec, partial, code, earlier, limits, data, probed)

    return _keep_or_record(spec, results, make)


def record_unneeded(spec: RunSpec, results: Path, reason: str) -> RunRecord:
    """Record that a run held in reserve was not needed, and why. An existing record is kept unchanged."""
    record, _ = _keep_or_record(
        spec, results, lambda partial, code, _: not_made(spec, partial, code, "unneeded", reason)
    )
    return record


def _keep_or_record(
    spec: RunSpec, results: Path, make: Callable[[Path, str, Earlier], RunRecord]
) -> tuple[RunRecord, bool]:
    """Return (the record of the run, whether it was made now).

    make: fills a partial directory, given that directory, the fingerprint of the code, and the earlier attempts.
    """
    raise_on_signals()
    final = results / "runs" / spec.run_id
    partial = results / "runs" / ".partial" / spec.run_id
    with exclusive(
        partial.with_suffix(".lock"), waiting=lambda: say("waiting: another process is measuring this run")
    ):
        kept = kept_record(final, results)
        if kept is not None:
            vouch(final, kept.outcome)
            return kept, False
        code = measuring_fingerprint()  # before the start: the ranks do not run code that is edited later
        whole, earlier = take_over(partial, final, results)
        if whole:
            return read_record(final), False
        with new_attempt(partial, results):
            begin_attempt(partial, earlier, code)
            record = make(partial, code, earlier)
            hold_signals()
            complete(partial, record)
        put_in_place(partial, final, results)
    return read_record(final), True


def _launch(
    spec: RunSpec, partial: Path, code: str, earlier: Earlier, limits: Limits, data: Path, probed: bool
) -> RunRecord:
    """Start the ranks, wait for them, and return the record of the run. The data files are left in `partial`."""
    write_text(partial / PLANNED, spec.to_json())
    write_text(partial / "spec.json", (spec if probed else spec.without_probes).to_json())
    results = partial.parents[2]
    if isinstance(spec, CommandSpec):
        prepare(spec, partial)
    try:
        starter = make_starter(forks=spec.host.start == "fork")
    except NoControllerError as error:
        place = host_environment() | {"slurm_job_id": job_id(os.environ)}
        return not_made(spec, partial, code, "preempted", str(error), environment=place, earlier=earlier)
    with exclusive(host_lock(), waiting=lambda: say("waiting: another measurement is using this host")):
        limits = starter.limits(limits)
        surroundings = starter.environment(spec, partial)
        guard = look_when_quiet(lambda: starter.look(spec, surroundings), limits.quiet_within_s)
        if guard:
            _warn(spec, guard.environment)
        refused = starter.refuse(spec) or (guard.refused if guard else None)
        if isinstance(spec, CommandSpec):
            refused = refused or refusal(spec)
            remember(spec, partial, results)
        started = datetime.datetime.now(datetime.UTC)
        begin = time.monotonic()
        command = [] if refused else starter.command(spec, partial, data, limits)
        beside = LaunchWatch(spec, guard.cpus, command, surroundings) if guard and command else None
        ended = _run(spec, starter, partial, limits, command, surroundings, beside, refused)
        wall_time_s = time.monotonic() - begin
        shared = record_touched(spec, partial, results) if isinstance(spec, CommandSpec) else []
    processes: list[Process] = []
    if isinstance(spec, CommandSpec):
        parts, processes = gather(spec, partial, ended.look)
    else:
        parts = read_parts(partial, world_size=spec.world_size)
    taken = None
    if ended.interrupted:
        taken = starter.took(ended.interrupted.signum, parts.steps)
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
            steps=parts.steps,
            timed_out=ended.timed_out,
            refused=ended.refused or read_refusal(partial) or read_early_error(partial / ATTACHED),
            taken=taken,
            oom_kills=ended.oom_kills,
            nodes=nodes_of_ranks(partial),
            diverged_first=first_diverged(parts.tables["steps"]),
        ),
    )
    if isinstance(spec, CommandSpec) and outcome == "ok" and (wrong := flaw(spec, partial, processes)):
        outcome, reason = "failed", wrong
    of_batches = batch_warnings(spec, processes) if isinstance(spec, CommandSpec) and outcome == "ok" else []
    place = guard.environment if guard else gathered(read_nodes(partial))
    noted: list[dict[str, str]] = []
    if outcome == "ok":
        over_min = limits.time_limit_min if ended.timed_out else None
        noted += warnings_of_probes(partial, parts.environment, over_min=over_min)
        if ended.timed_out and isinstance(spec, CommandSpec):
            noted += over_time(limits)
    if not probes_failed(partial) and outcome == "ok" and not isinstance(spec, CommandSpec):
        noted += not_ended(ended.exit_code)
    place["warnings"] = [*place["warnings"], *repeated(earlier), *shared, *of_batches, *noted]
    if held := starter.held_devices(spec):
        place |= {HELD_DEVICES: held}
    measured = measured_of(parts.environment)
    place |= beside.loads(measured) if beside else loads_of_nodes(partial, measured)
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
    """How the processes of a run ended, as seen from outside."""

    exit_code: int = 1
    timed_out: bool = False
    refused: str | None = None
    interrupted: Interrupted | None = None
    oom_kills: int | None = None
    look: Look | None = None
    """The last evaluation of the stopping rule for a script, made while it ran."""


def _run(
    spec: RunSpec,
    starter: Starter,
    partial: Path,
    limits: Limits,
    command: list[str],
    environment: dict[str, str],
    beside: LaunchWatch | None,
    refused: str | None,
) -> _Ended:
    """Start all processes and wait until they have ended.

    environment: of the ranks, or of the process that starts them. refused: why no process may be started; None
    where the run can be measured.
    """
    if refused:
        write_text(partial / "log.txt", f"{refused}\n")
        return _Ended(refused=refused)
    progress = Progress(partial, name=spec.run_id)
    arrivals = Arrivals(partial, nodes=spec.nodes if starter.remote else 0, limit_s=limits.start_limit_s)

    before = oom_kills()
    script = None
    if isinstance(spec, CommandSpec):
        from scalestudy.launch.foreign.watch import CommandWatch  # needs scipy, which other runs do not

        script = CommandWatch(spec, partial, stall_limit_s=limits.stall_limit_s)

    def watch() -> float | None:
        progress.watch()
        arrivals.check()
        if beside:
            beside.watch.check()
        return script.check() if script else None

    try:
        exit_code, timed_out = run_group(
            command,
            environment=environment,
            log=partial / "log.txt",
            time_limit_s=limits.time_limit_min * 60,
            watch=watch,
            end=starter.ender(partial),
            directory=spec.directory if isinstance(spec, CommandSpec) and not starter.remote else None,
        )
        killed = oom_kills() if not starter.remote and before is not None else None
        rise = killed - before if killed is not None and before is not None else None
        return _Ended(exit_code, timed_out, oom_kills=rise, look=script.look if script else None)
    except AllReportedError:
        return _Ended(0, look=script.look if script else None)
    except NotAllCameError as error:
        return _Ended(refused=str(error))
    except Interrupted as stop:
        hold_signals()  # from here on, nothing may interrupt the writing of the record
        return _Ended(interrupted=stop)
    finally:
        progress.close()
        if beside:
            beside.close()
