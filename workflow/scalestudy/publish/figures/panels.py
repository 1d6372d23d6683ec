"""What one panel cannot show, in several alike: one for each variant and way of scaling, a line for each scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalestudy.publish import labels
from scalestudy.publish.figures.style import HEIGHT_IN
from scalestudy.study.plan import Plan, Point

MOST_TOGETHER = 7
"""Points that a reader tells apart in one panel."""
ACROSS = 2
PANEL_IN, LINE_IN, AXIS_IN = 1.05, 0.12, 0.4
"""Heights: of one panel of several and the gap above it, of a line of its name, and of the axis below them all."""
SIDE_IN, CHARACTER_IN = 0.65, 0.056
"""Widths: of the axis beside the panels and of their gaps, and of a letter of 7 pt."""


BASE = (0, "one process")


@dataclass(frozen=True)
class Group:
    """Points that share a panel, each with its place among the styles and its name in the legend."""

    name: str
    """'' where all points stand together."""
    points: dict[Point, tuple[int, str]]


def groups_of(plan: Plan, workload: str) -> list[Group]:
    """All points of a workload in one group, or one for each variant and way of scaling, with its base case.

    One, where they are few enough, and where that would not part them: a group of one point is no line of scales.
    Points that share their launches (the base case of strong and of weak scaling) are one in it.
    """
    mine = [point for point in plan.points if point.workload == workload and point.scaling != "reference"]
    launched: dict[tuple[str, ...], Point] = {}
    scaled: dict[tuple[str, str], list[Point]] = {}
    for point in mine:
        launched.setdefault(point.runs, point)
        if point.runs != point.base:
            scaled.setdefault((point.variant, point.scaling), []).append(point)
    if len(launched) <= MOST_TOGETHER or len(scaled) < 2 or len(launched) < 2 * len(scaled):
        points = launched.values()
        return [Group("", {point: (index, labels.series(point)) for index, point in enumerate(points)})]
    scales = sorted({(point.nodes, point.world_size) for points in scaled.values() for point in points})
    groups = []
    for (variant, scaling), points in scaled.items():
        placed = {launched[points[0].base]: BASE}
        for point in points:
            place = 1 + scales.index((point.nodes, point.world_size))
            placed[point] = (place, labels.ranks(point.world_size, point.nodes))
        groups.append(Group(f"{variant}, {scaling} scaling\n{_batch(points)}", placed))
    compared = {point.base for points in scaled.values() for point in points}
    alone = [point for runs, point in launched.items() if runs == point.base and runs not in compared]
    groups += [Group(f"{point.variant}\nbatch {point.global_batch}", {point: BASE}) for point in alone]
    return groups


def panels(
    names: Sequence[str], *, width_in: float, each: int = 1, across: int = ACROSS
) -> tuple[Figure, list[list[Axes]]]:
    """`each` axes for every name, in a row, below it; as many names beside each other as `across`.

    Axes of one place share their limits, all of them their vertical axis. One name alone has the usual height.
    """
    across = min(across, len(names))
    rows = -(-len(names) // across)
    characters = int((width_in - SIDE_IN) / across / CHARACTER_IN)
    texts = ["\n".join(textwrap.fill(line, characters) for line in name.splitlines()) for name in names]
    most_lines = max(text.count("\n") + 1 for text in texts)
    height_in = AXIS_IN + rows * (PANEL_IN + LINE_IN * most_lines)
    if len(names) % across:
        height_in += AXIS_IN  # of a panel with none below it
    if len(names) == 1:
        height_in = HEIGHT_IN
    figure, grid = plt.subplots(rows, across * each, figsize=(width_in, height_in), sharey=True, squeeze=False)
    cells = [list(row[first : first + each]) for row in grid for first in range(0, across * each, each)]
    for spare in cells[len(names) :]:
        for axes in spare:
            axes.remove()
    made = cells[: len(names)]
    for index, (text, mine) in enumerate(zip(texts, made, strict=True)):
        mine[0].set_title(text, fontsize=7, loc="left", pad=3)
        for axes, first in zip(mine, made[0], strict=True):
            if axes is not first:
                axes.sharex(first)
            axes.tick_params(labelbottom=index + across >= len(names))
    return figure, made


def name_axes(made: list[list[Axes]], *, x: Sequence[str], y: str) -> None:
    """Names of the axes, seen at the edges alone; whoever reads a panel's data finds them there all the same."""
    for mine in made:
        for axes, name in zip(mine, x, strict=True):
            axes.set_xlabel(name)
            axes.set_ylabel(y)
            axes.xaxis.label.set_visible(bool(axes.xaxis.get_tick_params()["labelbottom"]))
            axes.yaxis.label.set_visible(axes.get_subplotspec().is_first_col())


def _batch(points: list[Point]) -> str:
    """What of the batch is the same at all scales."""
    of_all = {point.global_batch for point in points}
    of_one = {point.batch_per_rank for point in points}
    if len(of_all) == 1:
        return f"global batch {of_all.pop()}"
    return f"batch {of_one.pop()} per rank" if len(of_one) == 1 else ""
