"""Set runs aside so that the next `snakemake` measures them again; nothing is deleted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from scalestudy.launch.run import set_aside
from scalestudy.record.observation import Outcome, read_record

HELP = "set failed runs aside, so that the next snakemake measures them again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="results folder of the study, such as results/digits")
    parser.add_argument(
        "--outcome",
        nargs="+",
        choices=get_args(Outcome),
        default=["failed", "timeout", "preempted"],
        help="outcomes to repeat (default: failed timeout preempted)",
    )


def run(arguments: argparse.Namespace) -> int:
    directories = sorted(path.parent for path in arguments.results.glob("runs/*/run.json"))
    chosen = [path for path in directories if read_record(path).outcome in arguments.outcome]
    for directory in chosen:
        print(f"{directory.name} -> {set_aside(directory, arguments.results)}")
    print(f"{len(chosen)} of {len(directories)} runs set aside; run snakemake to measure them again")
    return 0
