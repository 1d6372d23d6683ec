"""Record launches that ended with their SLURM job and could not say so themselves."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.launch.slurm.settle import settle

HELP = "record launches that were cut off with their SLURM job"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="results folder of the study, such as results/digits")


def run(arguments: argparse.Namespace) -> int:
    for line in settle(arguments.results):
        print(line)
    return 0
