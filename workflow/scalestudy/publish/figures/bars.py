"""Horizontal bars, a row for every point of a workload: what the figures of parts and of memory share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from scalestudy.publish import labels
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.panels import MOST_TOGETHER
from scalestudy.publish.figures.style import PALETTE
from scalestudy.publish.results import failure_word

ROW_IN = 0.19
"""Height of a row: text of 7 pt and a gap."""
HATCHES = ("", "////", "\\\\", "----", "||||", "xxxx", "++++", "//", "\\", "--", "||")
"""Lines only: dots and stars make an SVG ten times as large."""
NAMED_BY = "Point"


@dataclass(frozen=True)
class Rows:
    """Points from the top, each at its place along the vertical axis; many of them under headings."""

    points: pd.DataFrame
    at: list[int]
    headings: dict[int, str]
    """Place -> variant and way of scaling of what stands below; empty where every row says them itself."""

    @property
    def places(self) -> int:
        return len(self.at) + len(self.headings)


def rows_of(frames: Frames, workload: str) -> Rows:
    """Measured rows: the base case once, whatever is scaled from it."""
    mine = frames.measured(workload)
    points = mine[~(mine["is_base"] & mine.duplicated(["variant", "is_base"]))]
    kinds = [
        row["variant"] if row["is_base"] else f"{row['variant']}, {row['scaling']} scaling"
        for row in points.to_dict("records")
    ]
    at: list[int] = []
    headings: dict[int, str] = {}
    apart = len(kinds) > MOST_TOGETHER and 2 * len(set(kinds)) <= len(kinds)
    for index, kind in enumerate(kinds):
        if apart and (index == 0 or kinds[index - 1] != kind):
            headings[len(at) + len(headings)] = kind
        at.append(len(at) + len(headings))
    return Rows(points, at, headings)


def height_in(places: float) -> float:
    """Height of a figure with so many rows, before its legend."""
    return 0.55 + ROW_IN * places


def bar_style(index: int) -> dict:
    """Colour and hatch of the index-th series: told apart in grey too."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "hatch": HATCHES[index % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.3,
    }


def name_rows(axes: Axes, rows: Rows) -> None:
    """Points along the vertical axis, from the top; one without a good launch has its outcome beside it."""
    names = dict(rows.headings)
    points = dict(zip(rows.at, rows.points.to_dict("records"), strict=True))
    for place, row in points.items():
        names[place] = _below_heading(row) if rows.headings else labels.row(row)
        if failure := failure_word(row):
            axes.annotate(failure, (0, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks(range(rows.places), [names[place] for place in range(rows.places)])
    for place in rows.headings:
        axes.get_yticklabels()[place].set_fontweight("bold")
    axes.row_names = {place: labels.row(row) for place, row in points.items()}  # for who reads the data off it
    axes.set_ylim(rows.places - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0)
    axes.set_ylabel(NAMED_BY)
    axes.yaxis.label.set_visible(False)  # the names say so themselves; whoever reads the figure's data needs it


def _below_heading(row: Any) -> str:
    batch = f"batch {int(row['batch_per_rank'])}" + (" per rank" if row["world_size"] > 1 else "")
    where = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return f"{where}, {batch}"
