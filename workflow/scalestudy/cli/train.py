"""Launch one run and record it. A run that has been measured already is kept, never measured twice."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scalestudy.cli.study_files import add_study
from scalestudy.errors import UserError
from scalestudy.launch.process import Interrupted
from scalestudy.launch.run import DATA, measure_run, record_unneeded
from scalestudy.record.parts import TRACES
from scalestudy.study.config.load import load_study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec, parse_spec

HELP = "launch one run and record the observation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", dest="run_id", help="run id, as `scalestudy plan` prints it")
    which.add_argument("--spec", help="the run's spec as JSON, as a Snakemake job carries it")
    parser.add_argument("--profile-steps", type=int, help="also trace so many extra steps with torch.profiler")
    parser.add_argument(
        "--reserve-of",
        nargs="+",
        metavar="RUN",
        help="launch only if these runs of the same configuration leave its step time less sure than the target",
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="confidence level of that decision")
    parser.add_argument("--time-limit-min", type=float, help="end the launch after so many minutes")
    parser.add_argument(
        "--start-limit-s", type=float, help="give nodes up that have not come after so many seconds"
    )
    parser.add_argument(
        "--stall-limit-s", type=float, help="give up on ranks that stand still for so many seconds"
    )
    parser.add_argument("--data", type=Path, default=DATA, help=f"prepared data (default: {DATA})")
    parser.add_argument("--results", type=Path, help="results folder (default: results/STUDY)")


def run(arguments: argparse.Namespace) -> int:
    if arguments.spec:
        spec = parse_spec(arguments.spec)
        if arguments.results is None:
            raise UserError("--spec needs --results: a spec does not know its study's folder")
        results, limits = arguments.results, Limits()
    else:
        study = load_study(*arguments.study)
        spec = _find(arguments.run_id, make_plan(study).runs)
        results, limits = arguments.results or Path("results") / study.name, study.limits
    if arguments.profile_steps is not None:
        if arguments.profile_steps < 1:
            raise UserError("--profile-steps: at least 1 step can be traced")
        spec = spec.model_copy(update={"profile_steps": arguments.profile_steps})
    if arguments.reserve_of:
        from scalestudy.cli.reserve import decide  # statistics, which the other launches need not load

        needed, reason = decide(
            spec, [results / "runs" / run for run in arguments.reserve_of], arguments.confidence
        )
        if not needed:
            record = record_unneeded(spec, results, reason)
            print(f"{record.run_id}: {record.outcome} ({record.reason})")
            return 0
    limits = Limits(
        time_limit_min=arguments.time_limit_min or limits.time_limit_min,
        start_limit_s=arguments.start_limit_s or limits.start_limit_s,
        stall_limit_s=arguments.stall_limit_s or limits.stall_limit_s,
    )
    try:
        record, anew = measure_run(spec, results, limits=limits, data=arguments.data)
    except Interrupted as stop:
        print(f"{spec.run_id}: interrupted; nothing was recorded", file=sys.stderr)
        return 128 + stop.signum
    verb = "measured" if anew else "kept, it was measured before"
    print(f"{record.run_id}: {verb}: {record.outcome}{record.reason and f' ({record.reason})'}")
    print(f"  {record.environment.get('device_choice', 'no rank came up')}")
    if record.stopping:
        print(f"  {record.stopping.steps} steps: {record.stopping.reason}")
    traces = [name for name in record.files if name.endswith(TRACES.removeprefix("*"))]
    if traces:
        print(f"  {len(traces)} traces in {results / 'runs' / record.run_id}")
    return 1 if record.outcome == "preempted" else 0  # it is to be measured again


def _find(run_id: str, runs: dict[str, RunSpec]) -> RunSpec:
    if run_id not in runs:
        raise UserError(f"--run {run_id}: not in the plan; `scalestudy plan` lists its runs")
    return runs[run_id]
