"""Draws all figures of a study on several cores."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import get_registered_canvas_class

from scalestudy.cli.processes import cores, spread
from scalestudy.cli.results.inputs import plan_of, table_of
from scalestudy.errors import UserError
from scalestudy.publish.figures import drawing, figures_of, file_of
from scalestudy.publish.figures.save import FORMATS, save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.figures.tidy import Frames
from scalestudy.registry.figures import FigureEntry
from scalestudy.registry.results import RESULTS


def draw_all(results: Path, workload: str | None, processes: int | None) -> list[Path]:
    """Draw the figures of a study, or of one of its workloads. Returns the paths of the files written.

    processes: number of figures drawn at a time; None for the number of cores.
    """
    plan = plan_of(results)
    if workload not in {None, *plan.study.workloads}:
        raise UserError(f"--workload {workload}: the study has {', '.join(plan.study.workloads)}")
    verified = (results / RESULTS["verified"]).exists()
    figures = [(entry, name) for entry, name in figures_of(plan, verified=verified) if workload in {None, name}]
    tables = [field.name for field in fields(Frames) if field.name != "verified" or verified]
    frames = Frames(**{name: table_of(results, name) for name in tables})
    names = dict.fromkeys(name for _, name in figures)
    given = {name: (plan, name, frames.of(plan, name)) if name else (plan, frames) for name in names}
    at_once = min(processes or cores(), len(figures))
    get_ready(entry for entry, _ in figures)
    return list(chain.from_iterable(spread(draw_figure, (results, given), figures, processes=at_once)))


def get_ready(entries: Iterable[FigureEntry]) -> None:
    """Load the code that draws and saves these figures, and their font: once, and not in every process."""
    for entry in entries:
        drawing(entry.name)
    for suffix in FORMATS:
        get_registered_canvas_class(suffix)
    with paper_style():
        pass


def draw_figure(
    of_study: tuple[Path, Mapping[str, tuple[Any, ...]]], figure: tuple[FigureEntry, str]
) -> list[Path]:
    """Draw one figure. Returns the paths of the files written.

    of_study: the results folder, and the arguments of the figures by workload, '' for figures of the whole study.
    """
    (results, given), (entry, workload) = of_study, figure
    with paper_style():
        drawn = drawing(entry.name)(*given[workload])
        return save_figure(drawn, results / "figures" / file_of(entry, workload))
