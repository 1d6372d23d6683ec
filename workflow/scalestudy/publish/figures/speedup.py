"""Speedup and efficiency against ranks, beside what would be ideal and what was asked for."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalestudy.publish.figures.style import (
    DOUBLE_COLUMN_IN,
    REFERENCE,
    mark_missing,
    rank_axis,
    series_style,
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
        [target ** np.log2(count) for count in counts],
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


def distributed_series(mine: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """('ddp, strong', its points with the base case first) for every variant and scaling of a workload."""
    found = []
    distributed = mine[~mine["is_base"]]
    for (variant, scaling), points in distributed.groupby(["variant", "scaling"], sort=False):
        named = mine["variant"] == points["base_variant"].iloc[0]
        base = mine[mine["is_base"] & (mine["scaling"] == scaling) & named]
        together = pd.concat([base, points[points["world_size"] > 1]])
        found.append((f"{variant}, {scaling} scaling", together.sort_values("world_size")))
    return found


def draw_series(axes: Axes, points: pd.DataFrame, column: str, *, label: str, index: int) -> None:
    """Points with interval bars, joined over ranks; a point without a value is marked with its outcomes."""
    good = points[points[column].notna()]
    limits = np.vstack(
        [(good[column] - good[f"{column}_low"]).fillna(0), (good[f"{column}_high"] - good[column]).fillna(0)]
    )
    style = {"capsize": 2.5, "elinewidth": 0.8, **series_style(index)}
    axes.errorbar(good["world_size"], good[column], yerr=limits, label=label, **style)
    for _, point in points[points[column].isna()].iterrows():
        mark_missing(axes, point["world_size"], point["outcomes"])
