"""Horizontal bars, a row for every point of a workload: what the figures of parts and of memory share."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from scalestudy.publish import labels
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.style import PALETTE
from scalestudy.publish.results import failure_word

ROW_IN = 0.19
"""Height of a row: text of 7 pt and a gap."""
HATCHES = ("", "////", "\\\\", "----", "||||", "xxxx", "++++", "//", "\\", "--", "||")
"""Lines only: dots and stars make an SVG ten times as large."""
NAMED_BY = "Point"


def points_of(frames: Frames, workload: str) -> pd.DataFrame:
    """Measured rows from the top: the base case once, whatever is scaled from it."""
    mine = frames.measured(workload)
    return mine[~(mine["is_base"] & mine.duplicated(["variant", "is_base"]))]


def height_in(rows: float) -> float:
    """Height of a figure with so many rows, before its legend."""
    return 0.55 + ROW_IN * rows


def bar_style(index: int) -> dict:
    """Colour and hatch of the index-th series: told apart in grey too."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "hatch": HATCHES[index % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.3,
    }


def name_rows(axes: Axes, points: pd.DataFrame) -> None:
    """Points along the vertical axis, from the top; one without a good launch has its outcome beside it."""
    names = []
    for position, (_, row) in enumerate(points.iterrows()):
        names.append(labels.row(row))
        if failure := failure_word(row):
            axes.annotate(
                failure, (0, position), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0)
    axes.set_ylabel(NAMED_BY)
    axes.yaxis.label.set_visible(False)  # the names say so themselves; whoever reads the figure's data needs it
