"""Measure a small study with a known fault in it, and see whether the diagnosis finds it.

On two cores, a minute each.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import yaml

from scalestudy.cli import aggregate
from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.demo.faults import ALL, Fault
from scalestudy.diagnose.findings import Diagnosis, FindingsFile
from scalestudy.diagnose.study import diagnose_study
from scalestudy.launch.process import Interrupted
from scalestudy.launch.run import DATA, measure_run
from scalestudy.publish.words.points import VERDICTS
from scalestudy.record.document import write_document
from scalestudy.record.files import write_json, write_text
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

HELP = "a small study with a known fault, and its diagnosis"
SHAPED = "SCALESTUDY_DEMO_SHAPED"
SHAPE = (
    'PATH="$PATH:/usr/sbin:/sbin"; ip link set lo up'
    ' && tc qdisc add dev lo root tbf rate "$1" burst 1mb latency 100ms && shift && exec "$@"'
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fault", choices=ALL, metavar="NAME", help=f"one of {', '.join(ALL)}; a list of all without"
    )
    parser.add_argument("--repeats", type=int, default=3, help="launches of each point (default: 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the study (default: 1)")
    parser.add_argument("--results", type=Path, help="results folder (default: results/demo-NAME)")


def run(arguments: argparse.Namespace) -> int:
    if not arguments.fault:
        for fault in ALL.values():
            print(f"{fault.name:22} {fault.cause:16} {fault.about}")
        return 0
    fault = ALL[arguments.fault]
    hooked = False
    if fault.link and SHAPED not in os.environ:
        if shaped := shaped_network(fault.link):
            os.environ[SHAPED] = fault.link
            sys.stdout.flush()
            os.execvp(shaped[0], [*shaped, *sys.orig_argv])
        hooked = True
        print("No link can be throttled here (unshare, ip, tc): a communication hook waits as long.", flush=True)
    results = arguments.results or Path("results") / f"demo-{fault.name}"
    content = fault.study(repeats=arguments.repeats, seed=arguments.seed, injected=hooked)
    study = parse_study(content, source=fault.name)
    plan = make_plan(study)
    write_text(results / "study.yaml", yaml.safe_dump(content, sort_keys=False))
    write_json(results / "plan.json", plan.model_dump(mode="json"))
    print(f"{fault.name}: {fault.about} {len(plan.runs)} launches.", flush=True)
    try:
        for spec in plan.runs.values():
            record, _ = measure_run(spec, results, limits=study.limits, data=DATA)
            print(f"  {spec.run_id}: {record.outcome} {record.reason}".rstrip(), flush=True)
    except Interrupted as stop:
        print("interrupted; the launches that ended are kept", file=sys.stderr)
        return 128 + stop.signum
    found = judge(fault, results)
    causes = [finding.cause for finding in found.findings]
    print(f"verdict: {VERDICTS[found.verdict]} ({found.sentence})")
    print(f"found: {', '.join(causes) or 'nothing'}; put in: {fault.cause}")
    # What is found beside the speed, such as memory that grows, stands behind a verdict of healthy.
    right = next((cause for cause in causes if cause != "healthy"), "healthy") == fault.cause
    print("right" if right else "not found first")
    return 0 if right else 1


def judge(fault: Fault, results: Path) -> Diagnosis:
    """The diagnosis of what was measured of a fault, also written as findings.json."""
    study = read_plan(results / "plan.json").study
    with contextlib.redirect_stdout(io.StringIO()):
        aggregate.run(argparse.Namespace(plan=results / "plan.json", results=results))
    summary, forecasts = (read_table(results / name) for name in ("comprehensive_summary.csv", "forecasts.csv"))
    found = next(d for d in diagnose_study(study, summary, forecasts) if d.variant == fault.variant)
    write_document(results / "findings.json", FindingsFile(study=study.name, diagnoses=(found,)))
    return found


def shaped_network(link: str) -> list[str] | None:
    """What stands in front of a command to run it in a network of its own, whose only link is as slow as that.

    Root makes one, and so may everybody where the kernel has user namespaces. None where it does not work here.
    """
    namespace = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    command = [*namespace, "bash", "-c", SHAPE, "shaped", link]
    try:
        tried = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return command if tried.returncode == 0 else None
