"""Lines, one a launch: what the figures of epoch times, of accuracy and of step times share."""

from __future__ import annotations

from math import nan

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scalestudy.publish import labels
from scalestudy.publish.figures.panels import Group
from scalestudy.publish.figures.style import legend_below, series_style

MARKERS_OF_A_LAUNCH = 8


def launch_lines(axes: Axes, group: Group, frame: pd.DataFrame, *, x: str, y: str) -> int:
    """Draw column y against column x for every point of a group; returns how many launches there were to draw.

    frame: with the column run_id.
    """
    mine = frame[frame["run_id"].isin({run_id for point in group.points for run_id in point.runs})]
    values = mine[[x, y]].to_numpy(dtype=float)
    launches = {run_id: values[rows] for run_id, rows in mine.groupby("run_id").indices.items()}
    count = 0
    for point, (index, _) in group.points.items():
        made = [launches[run_id] for run_id in point.runs if run_id in launches]
        style = series_style(index) | {"alpha": 0.85, "linewidth": 0.9}
        axes.plot(*_joined(made).T, label=labels.series(point), markevery=_marked(made), **style)
        count += len(made)
    if x == "epoch":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return count


def legend_of(figure: Figure, groups: list[Group], panels: list[Axes]) -> None:
    """The legend of all panels: where there are several, by the names that points have in common."""
    names = {labels.series(point): name for group in groups for point, (_, name) in group.points.items()}
    in_order = dict(sorted({place for group in groups for place in group.points.values()}))
    legend_below(figure, *panels, names=names, order=list(in_order.values()))


def _joined(launches: list[np.ndarray]) -> np.ndarray:
    """Points (x, y) of launches one after another, with nan between them, where the line breaks.

    One line for all of them is drawn several times as fast, and has one entry in the legend.
    """
    gap = np.full((1, 2), nan)
    return np.concatenate([part for launch in launches for part in (launch, gap)] or [gap])


def _marked(launches: list[np.ndarray]) -> list[int]:
    """Places in _joined that have a marker: of a long line about eight."""
    places, begin = [], 0
    for launch in launches:
        places += range(begin, begin + len(launch), max(1, len(launch) // MARKERS_OF_A_LAUNCH))
        begin += len(launch) + 1
    return places
