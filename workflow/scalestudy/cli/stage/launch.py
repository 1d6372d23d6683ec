"""Stages that record runs: `train` for one run, `settle` for runs of a SLURM job that was ended."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.cli.naming import find_results, find_study, results_of
from scalestudy.cli.options import entries
from scalestudy.errors import UserError
from scalestudy.registry.words.percent import percent

if TYPE_CHECKING:
    from scalestudy.analyse.study.decision_file import DecisionFile
    from scalestudy.study.limits import Limits
    from scalestudy.study.spec import RunSpec


@options.verb(short_help="Launch one run and record its observation.")
@options.study
@options.results
@click.option("--run", "run_id", metavar="RUN", shell_complete=entries("plan", "runs"), help="Id of the run.")
@click.option("--spec", "spec_json", metavar="JSON", help="Spec of the run as JSON; Snakemake passes it.")
@click.option("--profile-steps", type=click.IntRange(min=1), help="Also trace this many extra steps.")
@click.option("--reserve-of", cls=Several, metavar="RUN...", help="Launch only if these runs are too uncertain.")
@click.option("--after", type=int, help="Launch only if the decision after this many repeats needs this run.")
@click.option("--confidence", default=0.95, help="Confidence level for --reserve-of.")
@click.option("--time-limit-min", type=float, help="End the run after this many minutes.")
@click.option("--start-limit-s", type=float, help="Fail after this many seconds if not all nodes have started.")
@click.option("--stall-limit-s", type=float, help="Fail after this many seconds without progress of the ranks.")
@options.data
def train(
    study: tuple[Path, ...],
    results: Path | None,
    run_id: str | None,
    spec_json: str | None,
    profile_steps: int | None,
    reserve_of: tuple[str, ...],
    after: int | None,
    confidence: float,
    time_limit_min: float | None,
    start_limit_s: float | None,
    stall_limit_s: float | None,
    data: Path,
) -> int:
    """Launch one run and record it. A measured run is kept and not repeated."""
    from scalestudy.cli.verify.spent import first_repeat_is_made, why_beyond
    from scalestudy.launch.guards.moment import better_moment_s
    from scalestudy.launch.process import Interrupted
    from scalestudy.launch.run import measure_run, record_unneeded
    from scalestudy.record.parts import TRACES
    from scalestudy.record.say import say
    from scalestudy.study.limits import Limits

    spec, folder, limits = _asked(study, results, run_id, spec_json)
    probed, quiet_within_s = True, 0.0
    if profile_steps is not None:
        spec = spec.model_copy(update={"profile_steps": profile_steps})
    if reserve_of or after is not None:
        if after is not None:
            decision = _decision(folder, after)
            needed, reason = spec.run_id in decision.needed, decision.why_unneeded(spec.repeat)
            probed = spec.run_id not in decision.without_probes
            quiet_within_s = better_moment_s() if decision.replaces else 0.0
        else:
            needed, reason = _decide(spec, [folder / "runs" / run for run in reserve_of], confidence)
        if not needed:
            record = record_unneeded(spec, folder, reason)
            print(f"{record.run_id}: {record.outcome} ({record.reason})")
            return 0
    if why := why_beyond(folder, spec.run_id):
        if not first_repeat_is_made(folder):
            print(f"{spec.run_id}: not launched: {why}", file=sys.stderr)
            return 1  # nothing is recorded, so that a larger budget continues here
        record = record_unneeded(spec, folder, why)
        print(f"{record.run_id}: {record.outcome} ({record.reason})")
        return 0
    limits = Limits(
        time_limit_min=time_limit_min or limits.time_limit_min,
        start_limit_s=start_limit_s or limits.start_limit_s,
        stall_limit_s=stall_limit_s or limits.stall_limit_s,
        quiet_within_s=quiet_within_s,
    )
    try:
        record, anew = measure_run(spec, folder, limits=limits, data=data, probed=probed)
    except Interrupted as stop:
        say(f"{spec.run_id}: interrupted; nothing was recorded")  # `say`, since the terminal may be gone
        return 128 + stop.signum
    verb = "measured" if anew else "kept, already measured"
    print(f"{record.run_id}: {verb}: {record.outcome}{record.reason and f' ({record.reason})'}")
    print(f"  {record.environment.get('device_choice', 'no rank started')}")
    if record.stopping:
        print(f"  {record.stopping.steps} steps: {record.stopping.reason}")
    traces = [name for name in record.files if name.endswith(TRACES.removeprefix("*"))]
    if traces:
        print(f"  {len(traces)} traces in {folder / 'runs' / record.run_id}")
    return 1 if record.outcome == "preempted" else 0  # so that Snakemake repeats it


def _asked(
    study_files: tuple[Path, ...], results: Path | None, run_id: str | None, spec_json: str | None
) -> tuple[RunSpec, Path, Limits]:
    """Return (spec, results folder, limits of its study) of the requested run."""
    from scalestudy.study.limits import Limits
    from scalestudy.study.spec import parse_spec

    if (run_id is None) == (spec_json is None):
        raise UserError("name the run with either --run or --spec")
    if spec_json is not None:
        if results is None:
            raise UserError("--spec needs --results: a spec does not name the folder of its study")
        return parse_spec(spec_json), results, Limits()
    from scalestudy.chain.launches import allowing
    from scalestudy.launch.foreign.shared import ALLOWED
    from scalestudy.study.plan import make_plan  # slow; a job with --spec does not need it

    study = find_study(study_files, results)
    os.environ[ALLOWED] = allowing(study)
    runs = make_plan(study).runs
    if run_id not in runs:
        near = get_close_matches(str(run_id), runs, n=1)
        meant = f"did you mean {near[0]}?" if near else f"a run of the plan is, for example, {next(iter(runs))}"
        raise UserError(f"--run {run_id}: not in the plan; {meant}")
    return runs[run_id], results or results_of(study), study.limits


def _decision(results: Path, after: int) -> DecisionFile:
    """Return the decision on further runs after this many repeats, for all points."""
    from scalestudy.analyse.study.decision_file import DecisionFile
    from scalestudy.record.document import read_document
    from scalestudy.registry.results import DECISIONS

    return read_document(results / DECISIONS.format(repeats=after), DecisionFile)


def _decide(spec: RunSpec, directories: list[Path], confidence: float) -> tuple[bool, str]:
    """Return (whether a reserve run is needed, why) from the runs that were planned from the start.

    If fewer than two of them completed, there is no spread to decide on. The reserve run is then not needed, since
    a configuration that fails would fail again.
    """
    from scalestudy.analyse.run.steps import measured  # statistics, which other runs need not load
    from scalestudy.measure.stopping import launches_needed
    from scalestudy.record.tables import read_observation

    target, count = spec.measure.half_width, len(directories)
    ended = (measured(read_observation(path), confidence=confidence)["step_time_s"] for path in directories)
    times_s = [time for time in ended if not isnan(time)]
    if len(times_s) < 2:
        return False, f"{len(times_s)} of {count} runs completed; 2 are needed to decide on more"
    launches, width = launches_needed(times_s, half_width=target, confidence=confidence, most=spec.repeat)
    known = f"step time known to ±{percent(width, 2)} after {len(times_s)} runs (goal ±{percent(target, 2)})"
    return launches >= spec.repeat, f"{known}: {launches} runs are enough"


@options.verb(short_help="Record runs that were ended with their SLURM job.")
@options.study
@options.results
def settle(study: tuple[Path, ...], results: Path | None) -> int:
    """Record runs that were ended with their SLURM job and could not record this themselves."""
    from scalestudy.launch.slurm.settle import settle
    from scalestudy.record.files import why_not_writable

    if study:
        find_study(study, None)  # otherwise a wrong name would be ignored silently
    place = results or find_results(study, None)
    if why := why_not_writable(place):  # then the logs, which are in the same folder, may be empty
        raise UserError(why)
    for line in settle(place):  # none if the workflow ended before it created its folder
        print(line)
    return 0
