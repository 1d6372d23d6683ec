"""How step times are distributed: two launches with one mean may differ in their long steps."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.lines import launch_lines
from scalestudy.publish.figures.style import HEIGHT_IN, REFERENCE, legend_below
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan

LINES_AT = (0.5, 0.95)
WIDE = 5  # times; a narrower axis would have one or two ticks at 1, 2 and 5


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Share of the steady steps that took no longer, a line a launch; thin lines at the median and at 95 %.

    The time is that of the slowest rank, over a logarithmic axis: equal ratios are equally wide.
    """
    figure, axes = plt.subplots(figsize=(paper_of(plan).column_in, HEIGHT_IN))
    for share in LINES_AT:
        axes.axhline(share, **REFERENCE | {"linestyle": ":"})
    times = frames.quantiles.assign(step_time_ms=frames.quantiles["step_time_s"].astype(float) * 1e3)
    drawn = launch_lines(axes, plan, workload, times, x="step_time_ms", y="quantile")
    axes.set_xlabel("Step time of the slowest rank (ms)")
    axes.set_ylabel("Share of steps")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    if drawn:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)) if high > WIDE * low else MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda time_ms, _: f"{time_ms:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        legend_below(figure, axes)
    else:
        axes.set_xticks([])
        axes.annotate("not measured", (0.5, 0.7), xycoords="axes fraction", ha="center")
    return figure
