"""Validation accuracy against epoch and against training time: speed is worth little where it costs accuracy."""

from __future__ import annotations

from matplotlib.figure import Figure

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.lines import launch_lines, legend_of
from scalestudy.publish.figures.panels import groups_of, name_axes, panels
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Panels sharing the accuracy axis: against epochs, against training time (validation excluded)."""
    groups = groups_of(plan, workload)
    figure, made = panels([group.name for group in groups], width_in=paper_of(plan).page_in, each=2)
    epochs = frames.epochs
    time_s = epochs["epoch_time_s"].astype(float)  # a study without any epoch has no numbers to tell a type from
    spent = epochs.assign(train_time_s=time_s.groupby(epochs["run_id"]).cumsum())
    for group, (left, right) in zip(groups, made, strict=True):
        launch_lines(left, group, spent, x="epoch", y="validation_accuracy")
        launch_lines(right, group, spent, x="train_time_s", y="validation_accuracy")
    name_axes(made, x=["Epoch", "Training time (s)"], y="Validation accuracy")
    left, right = made[0]
    left.set_ylim(0, 1.02)
    right.set_xlim(left=0)
    legend_of(figure, groups, [left for left, _ in made])
    return figure
