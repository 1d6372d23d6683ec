"""Training time of every epoch of every launch: drift, warm-up and outliers stay visible."""

from __future__ import annotations

from matplotlib.figure import Figure

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.lines import launch_lines, legend_of
from scalestudy.publish.figures.panels import groups_of, name_axes, panels
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Seconds of training (validation excluded) against epoch; a thin line a launch, colour and marker a point."""
    groups = groups_of(plan, workload)
    figure, made = panels([group.name for group in groups], width_in=paper_of(plan).column_in)
    for group, (axes,) in zip(groups, made, strict=True):
        launch_lines(axes, group, frames.epochs, x="epoch", y="epoch_time_s")
    name_axes(made, x=["Epoch"], y="Training time of an epoch (s)" if len(groups) == 1 else "Time of an epoch (s)")
    made[0][0].set_ylim(bottom=0)
    legend_of(figure, groups, [axes for (axes,) in made])
    return figure
