"""Draw the figures of a study and its workloads: each as PDF, SVG and PNG, with its points and its words."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.cli.processes import cores, spread
from scalestudy.errors import UserError
from scalestudy.publish.figures import FIGURES, drawing, study_figures
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.study.plan import Plan

HELP = "all figures of a study, with their data and their words"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--epochs", type=Path, required=True, help="epochs.csv")
    parser.add_argument("--forecasts", type=Path, required=True, help="forecasts.csv")
    parser.add_argument("--collectives", type=Path, required=True, help="collectives.csv")
    parser.add_argument("--quantiles", type=Path, required=True, help="step_quantiles.csv")
    parser.add_argument("--held-out", type=Path, required=True, help="held_out_forecasts.csv")
    parser.add_argument("--workload", help="those of one workload alone (default: all there are)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the figures")
    parser.add_argument(
        "--processes", type=int, default=cores(), help="workloads drawn at a time (default: as there are cores)"
    )


def run(arguments: argparse.Namespace) -> int:
    plan = read_plan(arguments.plan)
    if arguments.workload not in {None, *plan.study.workloads}:
        known = ", ".join(plan.study.workloads)
        raise UserError(f"--workload {arguments.workload}: the study has {known}")
    asked = [arguments.workload] if arguments.workload else [*plan.study.workloads, *_of_study(plan)]
    processes = min(arguments.processes, len(asked))
    for written in spread(draw_figures, arguments, asked, processes=processes):
        print(*written, sep="\n", end="\n" if written else "")
    return 0


def _of_study(plan: Plan) -> list[None]:
    """What stands for the study as a whole, where there is something to draw of it."""
    return [None] if study_figures(plan) else []


def draw_figures(arguments: argparse.Namespace, workload: str | None) -> list[Path]:
    """The figures of a workload, or those of the study as a whole; returns the files that were written."""
    plan = read_plan(arguments.plan)
    frames = Frames(
        summary=read_table(arguments.summary),
        epochs=read_table(arguments.epochs),
        forecasts=read_table(arguments.forecasts),
        collectives=read_table(arguments.collectives),
        quantiles=read_table(arguments.quantiles),
        held_out=read_table(arguments.held_out),
    )
    written = []
    for name, draw in _wanted(plan, workload).items():
        with paper_style():
            written += save_figure(draw(plan, frames), arguments.out / name)
    return written


def _wanted(plan: Plan, workload: str | None) -> dict[str, Callable[[Plan, Frames], Figure]]:
    """The figures of a workload, or of the study, by the names of their files."""
    if workload is None:
        return {name: drawing(name) for name in study_figures(plan)}
    return {f"{workload}_{name}": partial(_of, drawing(name), workload) for name in FIGURES}


def _of(draw: Callable[[Plan, str, Frames], Figure], workload: str, plan: Plan, frames: Frames) -> Figure:
    return draw(plan, workload, frames)
