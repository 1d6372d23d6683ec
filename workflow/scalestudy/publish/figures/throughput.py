"""Throughput against ranks for every batch size, beside the line of ideal scaling from the base case."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.points import distributed_series, draw_series
from scalestudy.publish.figures.style import HEIGHT_IN, REFERENCE, legend_below, rank_axis
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Samples per second, with interval bars; the ideal line starts at the base case's throughput."""
    figure, axes = plt.subplots(figsize=(paper_of(plan).column_in, HEIGHT_IN))
    mine = frames.measured(workload)
    counts = sorted(mine["world_size"].unique())
    base = mine[mine["is_base"]]["throughput_samples_per_s"].dropna()
    if len(base):
        ranks = np.geomspace(min(counts), max(counts))
        axes.plot(ranks, base.iloc[0] * ranks, label="ideal from the base case", **REFERENCE)
    for index, (name, points) in enumerate(distributed_series(mine)):
        batches = points.loc[points["world_size"] > 1, "batch_per_rank"].unique()
        label = f"{name}, batch {', '.join(map(str, batches))} per rank"
        draw_series(axes, points, "throughput_samples_per_s", label=label, index=index)
    rank_axis(axes, counts)
    axes.set_ylabel("Throughput (samples/s)")
    axes.set_ylim(bottom=0)
    legend_below(figure, axes)
    return figure
