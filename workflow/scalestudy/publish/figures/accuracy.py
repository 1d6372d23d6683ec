"""Validation accuracy against epoch and against training time: speed is worth little where it costs accuracy."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.lines import launch_lines
from scalestudy.publish.figures.style import HEIGHT_IN, legend_below
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Two panels sharing the accuracy axis: against epochs, against training time (validation excluded)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(paper_of(plan).page_in, HEIGHT_IN), sharey=True)
    epochs = frames.epochs
    time_s = epochs["epoch_time_s"].astype(float)  # a study without any epoch has no numbers to tell a type from
    spent = epochs.assign(train_time_s=time_s.groupby(epochs["run_id"]).cumsum())
    launch_lines(left, plan, workload, spent, x="epoch", y="validation_accuracy")
    launch_lines(right, plan, workload, spent, x="train_time_s", y="validation_accuracy")
    left.set_xlabel("Epoch")
    right.set_xlabel("Training time (s)")
    left.set_ylabel("Validation accuracy")
    left.set_ylim(0, 1.02)
    right.set_xlim(left=0)
    legend_below(figure, left)
    return figure
