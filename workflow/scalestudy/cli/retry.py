"""Set runs aside so that the next `snakemake` measures them again: those that failed, or of an older protocol.

Nothing is deleted: they move to superseded/ in the results folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from scalestudy.launch.run import set_aside
from scalestudy.record.observation import Outcome, read_record
from scalestudy.record.protocol import CURRENT

HELP = "set runs aside, so that the next snakemake measures them again"
FAILED = ("failed", "timeout", "preempted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="results folder of the study, such as results/digits")
    parser.add_argument(
        "--outcome",
        nargs="+",
        choices=get_args(Outcome),
        help=f"outcomes to repeat (default: {' '.join(FAILED)}; with --protocol: all)",
    )
    parser.add_argument(
        "--protocol",
        action="store_true",
        help=f"repeat runs of measurement protocols older than the current one, {CURRENT}",
    )


def run(arguments: argparse.Namespace) -> int:
    directories = sorted(path.parent for path in arguments.results.glob("runs/*/run.json"))
    outcomes = arguments.outcome or (get_args(Outcome) if arguments.protocol else FAILED)
    newest = CURRENT - 1 if arguments.protocol else CURRENT
    records = {path: read_record(path) for path in directories}
    chosen = [path for path, of in records.items() if of.outcome in outcomes and of.protocol <= newest]
    for directory in chosen:
        print(f"{directory.name} -> {set_aside(directory, arguments.results)}")
    print(f"{len(chosen)} of {len(directories)} runs set aside; run snakemake to measure them again")
    return 0
