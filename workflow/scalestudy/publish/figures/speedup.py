"""Speedup and efficiency against ranks, beside what would be ideal and what was asked for."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scalestudy.analyse.scaling import compounded_efficiency
from scalestudy.publish.figures.points import distributed_series, draw_series
from scalestudy.publish.figures.style import (
    DOUBLE_COLUMN_IN,
    REFERENCE,
    rank_axis,
)
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, summary: pd.DataFrame, epochs: pd.DataFrame) -> Figure:
    """Left: speedup with the ideal line. Right: efficiency from 0, with the target. Bars are the intervals."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(DOUBLE_COLUMN_IN, 2.7))
    mine = summary[(summary["workload"] == workload) & (summary["scaling"] != "reference")]
    counts = sorted(mine["world_size"].unique())
    ranks = np.array([min(counts), max(counts)])
    left.plot(ranks, ranks, label="ideal", **REFERENCE)
    right.axhline(1, **REFERENCE)
    target = plan.study.report.target_efficiency
    right.plot(
        counts,
        [compounded_efficiency(target, count) for count in counts],
        label=f"target: {target:.0%} per doubling",
        **REFERENCE | {"linestyle": ":"},
    )
    for index, (name, points) in enumerate(distributed_series(mine)):
        for axes, column in ((left, "speedup"), (right, "efficiency")):
            draw_series(axes, points, column, label=name, index=index)
    left.set_ylabel("Speedup over one process")
    right.set_ylabel("Efficiency")
    for axes in (left, right):
        rank_axis(axes, counts)
    left.set_ylim(0, max(1.05 * left.get_ylim()[1], 1.1))
    right.set_ylim(0, max(1.02 * right.get_ylim()[1], 1.1))
    handles = dict(zip(*reversed(left.get_legend_handles_labels()), strict=True))
    handles |= dict(zip(*reversed(right.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)))
    return figure
