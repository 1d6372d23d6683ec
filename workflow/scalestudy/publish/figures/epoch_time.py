"""Training time of every epoch of every launch: drift, warm-up and outliers stay visible."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.lines import launch_lines
from scalestudy.publish.figures.style import HEIGHT_IN, legend_below
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Seconds of training (validation excluded) against epoch; a thin line a launch, colour and marker a point."""
    figure, axes = plt.subplots(figsize=(paper_of(plan).column_in, HEIGHT_IN))
    launch_lines(axes, plan, workload, frames.epochs, x="epoch", y="epoch_time_s")
    axes.set_xlabel("Epoch")
    axes.set_ylabel("Training time of an epoch (s)")
    axes.set_ylim(bottom=0)
    legend_below(figure, axes)
    return figure
