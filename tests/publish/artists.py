"""What a figure shows, read off its artists, to be checked against the frame that it was drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure

COLUMNS = ["legend", "x", "y", "y_low", "y_high"]
Row = tuple[str, float | str, float, float, float]


def assert_drawn(figure: Figure, frame: pd.DataFrame) -> None:
    """Each point of the frame is drawn, in its panel, under its name, with its interval; and no other point is.

    Beside a missing point is its outcome; names of axes are those of the frame, or left out at inner panels.
    """
    assert set(frame["panel"]) <= set(range(1, 1 + len(figure.axes)))
    for panel, axes in enumerate(figure.axes, start=1):
        rows = frame[frame["panel"] == panel]
        expected = _expected(rows[rows["y"].notna()])
        drawn = pd.DataFrame(_points(axes), columns=COLUMNS)
        drawn, expected = (found.sort_values(COLUMNS, ignore_index=True) for found in (drawn, expected))
        assert drawn[["legend", "x"]].values.tolist() == expected[["legend", "x"]].values.tolist()
        for column in ("y", "y_low", "y_high"):
            assert drawn[column].tolist() == pytest.approx(expected[column].tolist()), (panel, column)
        said = {line for text in axes.texts for line in text.get_text().splitlines()}
        assert said == set(rows[rows["kind"] != "refused"]["outcome"]) - {""}
        assert {axes.get_xlabel(), axes.get_ylabel()} <= {"", *rows["x_name"], *rows["y_name"]}


def _expected(rows: pd.DataFrame) -> pd.DataFrame:
    limits = {end: rows[end].fillna(rows["y"]) for end in ("y_low", "y_high")}
    names = {"x": rows["tick"], "legend": rows["series"]} if "tick" in rows else {}
    return rows.assign(**limits, **names)[COLUMNS]


def _lying_ends(container: ErrorbarContainer) -> dict[int, tuple[float, float]]:
    """Row -> the ends of the line that lies in it."""
    _, _, bars = container.lines
    found = {}
    for segment in bars[0].get_segments():
        if len(segment) and not np.isnan(segment).any():
            found[round(segment[0, 1])] = (segment[0, 0], segment[1, 0])
    return found


def _points(axes: Axes) -> Iterator[Row]:
    """Bars that lie, points with interval bars, and lines with markers; not marks of missing points."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    parts = set()
    for container in axes.containers:
        label = str(container.get_label())
        if isinstance(container, BarContainer):
            limits = _lying_ends(container.errorbar) if container.errorbar else {}
            for bar in container.patches:
                place, end = round(bar.get_y() + bar.get_height() / 2), bar.get_x() + bar.get_width()
                low, high = (limit - bar.get_x() for limit in limits.get(place, (end, end)))
                yield label, names[place], bar.get_width(), low, high
        if isinstance(container, ErrorbarContainer):
            line, caps, bars = container.lines
            if any(isinstance(other, BarContainer) for other in axes.containers):
                parts |= {line, *caps}
                if not label.startswith("_"):
                    limits = _lying_ends(container)
                    for x, place in zip(*line.get_data(), strict=True):
                        if not np.isnan(x):
                            yield label, names[round(place)], x, *limits[round(place)]
                continue
            parts |= {line, *caps}
            points = np.column_stack(line.get_data())
            ends = [segment[:, 1] for segment in bars[-1].get_segments()] if bars else points[:, [1, 1]]
            for (x, y), (low, high) in zip(points, ends, strict=True):
                yield label, x, y, low, high
    for line in axes.get_lines():
        if line not in parts and line.get_marker() not in ("None", "", "x"):
            for x, y in np.column_stack(line.get_data()):
                if not np.isnan(y):
                    yield str(line.get_label()), x, y, y, y
