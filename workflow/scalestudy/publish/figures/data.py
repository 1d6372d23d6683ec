"""What a figure shows, read off the figure itself: its table cannot say anything else than the picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure

from scalestudy.publish.rounding import show

COLUMNS = ("panel", "x_name", "y_name", "series", "x", "y", "y_low", "y_high")


def drawn_frame(figure: Figure) -> pd.DataFrame:
    """A row for every point that is drawn as data, with the limits of its bar where it has one.

    Reference lines (what is ideal, a target) have two points or more and no marker; they are left out.
    """
    rows = [
        {"panel": panel, "x_name": axes.get_xlabel(), "y_name": _y_name(figure, axes)} | row
        for panel, axes in enumerate(figure.axes, start=1)
        for row in _points(axes)
    ]
    rows += [
        {"panel": panel, "x_name": axes.get_ylabel(), "y_name": axes.get_xlabel()} | row
        for panel, axes in enumerate(figure.axes, start=1)
        for row in _bars(axes)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _bars(axes: Axes) -> Iterator[dict[str, Any]]:
    """Bars that lie, named as bars.name_rows has named their rows."""
    for container in axes.containers:
        if isinstance(container, BarContainer):
            for bar in container.patches:
                name = axes.row_names[round(bar.get_y() + bar.get_height() / 2)]
                yield {"series": container.get_label(), "x": name, "y": bar.get_width()}


def describe(frame: pd.DataFrame) -> str:
    """The figure in words, for those who do not see it: its panels, its series, and what each goes from and to."""
    said = []
    for _, mine in frame.groupby("panel", sort=True):
        names = mine.iloc[0]
        if isinstance(names["x"], str):
            said.append(f"{names['y_name']}: {_by_point(mine)}.")
            continue
        series = [f"{name} {_ends(points)}" for name, points in mine.groupby("series", sort=False)]
        said.append(f"{names['y_name']} against {_lower(names['x_name'])}: {'; '.join(series)}.")
    return " ".join(said) or "No point could be measured."


def _points(axes: Axes) -> Iterator[dict[str, Any]]:
    """Points with bars, then lines with markers; matplotlib has labels with an underscore out of the legend."""
    barred = set()
    for container in axes.containers:
        if isinstance(container, ErrorbarContainer):
            line, _, bars = container.lines
            barred.add(line)
            segments = bars[0].get_segments() if bars else []
            for index, (x, y) in enumerate(np.column_stack(line.get_data())):
                low, high = segments[index][:, 1] if index < len(segments) else (np.nan, np.nan)
                nothing = low == high
                yield {
                    "series": getattr(container, "series", str(container.get_label()).removeprefix("_")),
                    "x": x,
                    "y": y,
                    "y_low": np.nan if nothing else low,
                    "y_high": np.nan if nothing else high,
                }
    label = ""
    for line in axes.get_lines():
        if line in barred or line.get_marker() in ("None", "", "_", "x") or not len(line.get_xdata()):
            continue
        # A line without a name of its own belongs to the one before.
        label = label if str(line.get_label()).startswith("_") else str(line.get_label())
        points = np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])
        for x, y in points[~np.isnan(points[:, 0])]:  # between launches the line breaks
            yield {"series": label, "x": x, "y": y, "y_low": np.nan, "y_high": np.nan}


def _by_point(bars: pd.DataFrame) -> str:
    """'ddp strong, 2 ranks: forward 1.20, backward 2.31; ...'; bars of nothing are left out."""
    said = []
    for name, mine in bars.groupby("x", sort=False):
        parts = ", ".join(f"{bar['series']} {_short(bar['y'])}" for _, bar in mine.iterrows() if bar["y"])
        said.append(f"{name}: {parts or 'not measured'}")
    return "; ".join(said)


def _ends(points: pd.DataFrame) -> str:
    ends = [f"{_short(point['y'])} at {_short(point['x'])}" for _, point in points.iloc[[0, -1]].iterrows()]
    return ends[0] if len(points) == 1 else f"from {ends[0]} to {ends[1]}"


def _short(number: float) -> str:
    return f"{number:.0f}" if float(number).is_integer() else show(number).value


def _y_name(figure: Figure, axes: Axes) -> str:
    """Of the first panel where panels share an axis: the others have no name of their own."""
    return axes.get_ylabel() or figure.axes[0].get_ylabel()


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]
