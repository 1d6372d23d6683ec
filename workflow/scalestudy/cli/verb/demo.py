"""`scalestudy demo`: measures a small study with a known fault and diagnoses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.command import LazyChoice
from scalestudy.registry.results import DATA, RESULTS

if TYPE_CHECKING:
    from scalestudy.demo.faults import Fault
    from scalestudy.diagnose.findings import Diagnosis

SHAPED = "SCALESTUDY_DEMO_SHAPED"
SHAPE = (
    'PATH="$PATH:/usr/sbin:/sbin"; ip link set lo up'
    ' && tc qdisc add dev lo root tbf rate "$1" burst 1mb latency 100ms && shift && exec "$@"'
)


@options.verb(short_help="Measure a small study with a known fault and diagnose it.")
@click.option(
    "--fault",
    type=LazyChoice("scalestudy.demo.faults:ALL"),
    metavar="NAME",
    help="Fault to demonstrate. Omit it to list all faults.",
)
@click.option("--repeats", type=click.IntRange(min=1), default=3, help="Runs per point.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of the study.")
@options.path("--results", metavar="FOLDER", help="Results folder of the study. Default: results/demo-NAME.")
def demo(fault: str | None, repeats: int, seed: int, results: Path | None) -> int:
    """Measure a small study with a known fault and check whether the diagnosis finds it.

    Each fault takes about a minute on two cores.
    """
    from scalestudy.demo.faults import ALL

    if fault is None:
        for one in ALL.values():
            print(f"{one.name:22} {one.cause:16} {one.about}")
        return 0
    return _measure(ALL[fault], repeats, seed, results or Path("results") / f"demo-{fault}")


def _measure(fault: Fault, repeats: int, seed: int, results: Path) -> int:
    import yaml

    from scalestudy.launch.process import Interrupted
    from scalestudy.launch.run import measure_run
    from scalestudy.publish.words.points import VERDICTS
    from scalestudy.record.files import write_json, write_text
    from scalestudy.study.config.load import parse_study
    from scalestudy.study.plan import make_plan

    hooked = False
    if fault.link and SHAPED not in os.environ:
        if shaped := shaped_network(fault.link):
            os.environ[SHAPED] = fault.link
            sys.stdout.flush()
            os.execvp(shaped[0], [*shaped, *sys.orig_argv])
        hooked = True
        print(
            "No link can be throttled here (unshare, ip, tc); a communication hook waits as long as such a link.",
            flush=True,
        )
    content = fault.study(repeats=repeats, seed=seed, injected=hooked)
    study = parse_study(content, source=fault.name)
    plan = make_plan(study)
    head = "# Made by `scalestudy demo`.\n"
    write_text(results / "study.yaml", head + yaml.safe_dump(content, sort_keys=False))
    write_json(results / RESULTS["plan"], plan.model_dump(mode="json"))
    print(f"{fault.name}: {fault.about} {len(plan.runs)} runs.", flush=True)
    try:
        for spec in plan.runs.values():
            record, _ = measure_run(spec, results, limits=study.limits, data=DATA)
            print(f"  {spec.run_id}: {record.outcome} {record.reason}".rstrip(), flush=True)
    except Interrupted as stop:
        print("interrupted; finished runs are kept", file=sys.stderr)
        return 128 + stop.signum
    found = judge(fault, results)
    causes = [finding.cause for finding in found.findings]
    print(f"verdict: {VERDICTS[found.verdict]} ({found.sentence})")
    print(f"found: {', '.join(causes) or 'nothing'}; injected: {fault.cause}")
    # Findings that do not concern speed, such as growing memory, follow a verdict of healthy.
    right = next((cause for cause in causes if cause != "healthy"), "healthy") == fault.cause
    print(
        "correct: the injected fault was found first" if right else "wrong: the injected fault was not found first"
    )
    return 0 if right else 1


def judge(fault: Fault, results: Path) -> Diagnosis:
    """Return the diagnosis of a measured fault, which is also written to findings.json."""
    from scalestudy.cli.results.inputs import plan_of, table_of
    from scalestudy.cli.stage.observations import aggregate
    from scalestudy.diagnose.findings import FindingsFile
    from scalestudy.diagnose.study import diagnose_study
    from scalestudy.record.document import write_document

    aggregate(results)
    study = plan_of(results).study
    diagnoses = diagnose_study(study, table_of(results, "summary"), table_of(results, "forecasts"))
    found = next(d for d in diagnoses if d.variant == fault.variant)
    write_document(results / RESULTS["findings"], FindingsFile(study=study.name, diagnoses=(found,)))
    return found


def shaped_network(link: str) -> list[str] | None:
    """Return the words that, put before a command, run it in a separate network with only one link of this speed.

    Root can create such a network, and so can every user if the kernel has user namespaces. None if it fails here.
    """
    namespace = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    command = [*namespace, "bash", "-c", SHAPE, "shaped", link]
    try:
        tried = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return command if tried.returncode == 0 else None
