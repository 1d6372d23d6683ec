"""Draw the figures of one workload, each as PDF, SVG and PNG, with its points as CSV and the figure in words."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.errors import UserError
from scalestudy.publish.figures import FIGURES
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style

HELP = "figures of a workload, with their data and their words"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--epochs", type=Path, required=True, help="epochs.csv")
    parser.add_argument("--forecasts", type=Path, required=True, help="forecasts.csv")
    parser.add_argument("--collectives", type=Path, required=True, help="collectives.csv")
    parser.add_argument("--workload", required=True, help="name of the workload")
    parser.add_argument("--out", type=Path, required=True, help="folder for the figures")


def run(arguments: argparse.Namespace) -> int:
    plan = read_plan(arguments.plan)
    if arguments.workload not in plan.study.workloads:
        known = ", ".join(plan.study.workloads)
        raise UserError(f"--workload {arguments.workload}: the study has {known}")
    frames = Frames(
        summary=read_table(arguments.summary),
        epochs=read_table(arguments.epochs),
        forecasts=read_table(arguments.forecasts),
        collectives=read_table(arguments.collectives),
    )
    for name, draw in FIGURES.items():
        with paper_style():
            figure = draw(plan, arguments.workload, frames)
            for path in save_figure(figure, arguments.out / f"{arguments.workload}_{name}"):
                print(path)
    return 0
