"""Lines, one a launch: what the figures of epoch times, of accuracy and of step times share."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from scalestudy.publish import labels
from scalestudy.publish.figures.style import series_style
from scalestudy.study.plan import Plan


def launch_lines(
    axes: Axes,
    plan: Plan,
    workload: str,
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
) -> int:
    """Draw column y against column x for the base case and every distributed point of a workload.

    frame: with the column run_id. Points that share their launches (the base case of strong and of weak scaling)
    are drawn once. Returns how many launches there were to draw.
    """
    points = [point for point in plan.points if point.workload == workload and point.scaling != "reference"]
    mine = frame[frame["run_id"].isin({run_id for point in points for run_id in point.runs})]
    launches = dict(iter(mine.groupby("run_id")))
    count = 0
    drawn: set[tuple[str, ...]] = set()
    for point in points:
        if point.runs in drawn:
            continue
        label: str | None = labels.series(point)
        style = series_style(len(drawn))
        for run_id in point.runs:
            launch = launches.get(run_id, mine.iloc[:0])
            count += run_id in launches
            every = max(1, len(launch) // 8)
            axes.plot(launch[x], launch[y], label=label, alpha=0.85, markevery=every, linewidth=0.9, **style)
            label = None  # one entry in the legend for all launches of a point
        drawn.add(point.runs)
    if x == "epoch":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return count
