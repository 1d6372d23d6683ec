"""Speedup and efficiency against ranks, beside what would be ideal, what was asked for, and what is forecast.

Where larger batches are forecast, a third panel has the efficiency against the batch.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.points import (
    FORECAST,
    distributed_series,
    draw_batches,
    draw_forecasts,
    draw_series,
    finish_batches,
    forecasts_of,
)
from scalestudy.publish.figures.style import (
    HEIGHT_IN,
    REFERENCE,
    legend_below,
    rank_axis,
)
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Left: speedup with the ideal line. Next: efficiency from 0, with the target. Bars are the intervals.

    Forecasts are hollow, joined to the last measured point by a thin line, and have the bars of their laws. Last,
    where there are any, efficiency at larger batches, of the most ranks that each series was measured on.
    """
    larger = forecasts_of(frames, workload, of="batch")
    figure, panels = plt.subplots(1, 3 if len(larger) else 2, figsize=(paper_of(plan).page_in, HEIGHT_IN))
    left, right = panels[:2]
    mine = frames.measured(workload)
    foretold = forecasts_of(frames, workload)
    counts = sorted({*mine["world_size"], *foretold["world_size"]})
    ranks = np.geomspace(min(counts), max(counts))  # a straight line is a curve over a logarithmic axis
    left.plot(ranks, ranks, label="ideal", **REFERENCE)
    right.axhline(1, **REFERENCE)
    target = plan.study.report.target_efficiency
    right.plot(
        ranks,
        [compounded_efficiency(target, count) for count in ranks],
        label=f"target: {target:.0%} per doubling",
        **REFERENCE | {"linestyle": ":"},
    )
    for index, (name, points) in enumerate(distributed_series(mine)):
        for axes, column in ((left, "speedup"), (right, "efficiency")):
            draw_series(axes, points, column, label=name, index=index)
            draw_forecasts(axes, foretold, points, column, index=index)
        if len(larger):
            draw_batches(panels[2], larger, points, "efficiency", index=index)
    left.set_ylabel("Speedup over one process")
    right.set_ylabel("Efficiency")
    for axes in (left, right):
        rank_axis(axes, counts)
    for axes in panels[1:]:
        axes.set_ylim(0, max(1.02 * axes.get_ylim()[1], 1.1))
    if len(larger):
        finish_batches(panels[2], larger, target=compounded_efficiency(target, int(larger["world_size"].max())))
    left.set_ylim(0, max(1.05 * left.get_ylim()[1], 1.1))
    legend_below(figure, *panels, last=FORECAST)
    return figure
