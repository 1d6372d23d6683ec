"""How step times are distributed: two launches with one mean may differ in their long steps."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.lines import launch_lines, legend_of
from scalestudy.publish.figures.panels import groups_of, name_axes, panels
from scalestudy.publish.figures.style import REFERENCE, log_ticks
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan

LINES_AT = (0.5, 0.95)


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Share of the steady steps that took no longer, a line a launch; thin lines at the median and at 95 %.

    The time is that of the slowest rank, over a logarithmic axis: equal ratios are equally wide.
    """
    groups = groups_of(plan, workload)
    figure, made = panels([group.name for group in groups], width_in=paper_of(plan).column_in)
    times = frames.quantiles.assign(step_time_ms=frames.quantiles["step_time_s"].astype(float) * 1e3)
    drawn = 0
    for group, (axes,) in zip(groups, made, strict=True):
        for share in LINES_AT:
            axes.axhline(share, **REFERENCE | {"linestyle": ":"})
        drawn += launch_lines(axes, group, times, x="step_time_ms", y="quantile")
    name_axes(
        made,
        x=["Step time of the slowest rank (ms)" if len(groups) == 1 else "Step time (ms)"],
        y="Share of steps",
    )
    first = made[0][0]
    first.set_ylim(0, 1.02)
    first.yaxis.set_major_formatter(PercentFormatter(1))
    if drawn:
        first.set_xscale("log")
        log_ticks(first.xaxis)
        legend_of(figure, groups, [axes for (axes,) in made])
    else:
        first.set_xticks([])
        first.annotate("not measured", (0.5, 0.7), xycoords="axes fraction", ha="center")
    return figure
