"""All figures of a study, drawn on several cores."""

from dataclasses import fields
from itertools import chain
from pathlib import Path

from scalestudy.cli.inputs import plan_of, table_of
from scalestudy.cli.processes import cores, spread
from scalestudy.errors import UserError
from scalestudy.publish.figures import drawing, figures_of, file_of
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.figures.tidy import Frames


def draw_all(results: Path, workload: str | None, processes: int | None) -> list[Path]:
    """Draw the figures of a study, or of one of its workloads: the files that were written.

    processes: workloads drawn at a time; as many as there are cores if None.
    """
    plan = plan_of(results)
    if workload not in {None, *plan.study.workloads}:
        raise UserError(f"--workload {workload}: the study has {', '.join(plan.study.workloads)}")
    asked = [workload] if workload else list(dict.fromkeys(name for _, name in figures_of(plan)))
    return list(
        chain.from_iterable(spread(draw_figures, results, asked, processes=min(processes or cores(), len(asked))))
    )


def draw_figures(results: Path, workload: str) -> list[Path]:
    """Draw the figures of a workload, or, of '', those of the study as a whole: the files that were written."""
    plan = plan_of(results)
    frames = Frames(**{field.name: table_of(results, field.name) for field in fields(Frames)})
    given = (workload, frames) if workload else (frames,)
    written = []
    for entry, name in figures_of(plan):
        if name == workload:
            with paper_style():
                written += save_figure(
                    drawing(entry.name)(plan, *given), results / "figures" / file_of(entry, workload)
                )
    return written
