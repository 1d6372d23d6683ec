"""Horizontal bars, one row per point: the parts of a step, and peak memory."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan, nan
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patheffects import AbstractPathEffect, withStroke

from scalestudy.publish.figures.panels import MOST_TOGETHER
from scalestudy.publish.figures.style import PALETTE, REFERENCE, legend_below
from scalestudy.publish.figures.tidy import Drawer, Frames, tidy
from scalestudy.publish.numbers.rounding import Values
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words import labels
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.column import Row
from scalestudy.registry.estimates import unresolved
from scalestudy.registry.points import PARTS, SPLIT, WHOLE
from scalestudy.study.plan import Plan

ROW_IN, LONG_ROW_IN = 0.19, 0.3
"""Height of a row: 7 pt text and a gap; and with the intervals of the parts of a bar."""
TOTAL = "step time"
"""The series of the whole step. Its interval is below the bar, those of the parts are on it."""
BAR, BAR_AT, TOTAL_AT = 0.62, -0.08, 0.36
"""Thickness of a bar of parts, and places of the bar and of the whole step, in rows from the middle of the row."""
LANES = 0.8
"""Part of a bar's thickness over which the intervals of its parts are spread, so that none is on another."""
ROOM = 1.25
"""Largest ratio of the axis to the longest bar: a longer interval runs out of the panel."""
INTERVAL: dict[str, Any] = {"color": "black", "linestyle": "none", "elinewidth": 0.8, "capthick": 0.8}
HALO: list[AbstractPathEffect] = [withStroke(linewidth=2.2, foreground="white")]
"""A white edge, with which a thin line is visible on every colour and hatch."""
HATCHES = ("", "////", "\\\\", "----", "||||", "xxxx", "++++", "//", "\\", "--", "||")
"""Only lines: dots and stars make an SVG ten times as large."""
MEMORY = {
    "peak_allocated_gib": "peak allocated",
    "peak_reserved_gib": "peak reserved",
    "peak_resident_gib": "peak resident on the host",
}


def _step_parts(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """Milliseconds of each part. The backward pass is split in two where exposed communication is resolved."""
    points = _points(frames, workload)
    times_ms = {name: [_ms(point, part) for point in points] for part, (name, _) in PARTS.items()}
    bars = {name: mine for name, mine in times_ms.items() if any(value for value, *_ in mine)}
    if bars:
        bars[TOTAL] = [_interval_ms(point, "step_time") for point in points]
    return _bar_rows(points, bars, "Time per step (ms)")


def _ms(row: Row, part: str) -> Values:
    """Milliseconds of a part, with limits; 0 if it is shown as another part, is negative, or was not measured."""
    alone = row["world_size"] == 1  # its backward pass is only computation
    known = not isnan(row["exposed_span_s"]) and "exposed_span_s" not in unresolved(row)
    hidden = (WHOLE,) if alone or known else SPLIT
    source = WHOLE if alone and part == SPLIT[0] else part
    value, low, high = _interval_ms(row, source)
    return (0.0, nan, nan) if part in hidden or isnan(value) else (max(value, 0.0), low, high)


def _interval_ms(row: Row, quantity: str) -> Values:
    """Milliseconds and their limits; nan for limits that are not known."""
    value, low, high = (1e3 * float(row.get(f"{quantity}_s{end}", nan)) for end in ("", "_low", "_high"))
    return value, low, high


def _memory(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """GiB of every measured kind of memory, maximum over ranks."""
    points = _points(frames, workload)
    sizes = {name: pd.Series([point[kind] for point in points], dtype=float) for kind, name in MEMORY.items()}
    used = {
        name: [(size, nan, nan) for size in mine.fillna(0)] for name, mine in sizes.items() if mine.notna().any()
    }
    return _bar_rows(points, used, "Memory per rank (GiB)")


def _points(frames: Frames, workload: str) -> Sequence[Row]:
    """Rows of the summary, with the baseline only once."""
    mine = frames.measured(workload)
    return mine[~(mine["is_base"] & mine.duplicated(["variant", "is_base"]))].to_dict("records")


def _bar_rows(points: Sequence[Row], bars: Mapping[str, Sequence[Values]], y_name: str) -> pd.DataFrame:
    """The tidy frame of bars. bars: series -> a length and its limits for every point.

    Many points are grouped under headings (`group`). Own column: `tick`, the label of a point's bars.
    """
    kinds = [
        point["variant"] if point["is_base"] else f"{point['variant']}, {point['scaling']} scaling"
        for point in points
    ]
    apart = len(kinds) > MOST_TOGETHER and 2 * len(set(kinds)) <= len(kinds)
    rows = pd.DataFrame({"x": [labels.row(point) for point in points]})
    rows = rows.assign(panel=1, x_name="Point", y_name=y_name, outcome=[failure_word(point) for point in points])
    rows["group"] = kinds if apart else ""
    rows["tick"] = [_below_heading(point) for point in points] if apart else rows["x"]
    parts = [
        rows.assign(
            series=name, style=style, **dict(zip(("y", "y_low", "y_high"), zip(*mine, strict=True), strict=True))
        )
        for style, (name, mine) in enumerate(bars.items())
    ]
    return tidy(parts or [rows.assign(style=-1)], "tick")


def _below_heading(row: Row) -> str:
    batch = f"batch {int(row['batch_per_rank'])}" + (" per rank" if row["world_size"] > 1 else "")
    return f"{labels.ranks(int(row['world_size']), int(row['nodes']))}, {batch}"


def _draw_bars(plan: Plan, frame: pd.DataFrame, *, stacked: bool) -> Figure:
    """Draw the rows from the top: the bars of a point end to end, or one below the other if not stacked.

    Stacked bars have the intervals of their parts and of their whole. A point without a good run has its outcome
    instead of bars.
    """
    whole = frame[frame["series"] == TOTAL]
    series = [mine for _, mine in frame[frame["series"] != TOTAL].groupby("style")]
    points, names = series[0], list[str]()
    headings, at = [], []
    for group, before, tick in zip(points["group"], ["", *points["group"]], points["tick"], strict=False):
        if group != before:
            headings.append(len(names))
            names.append(group)
        at.append(len(names))
        names.append(tick)
    paper, rows = paper_of(plan), len(names) * (1 if stacked else max(1, 0.75 * len(series)))
    size_in = (paper.page_in, 0.55 + LONG_ROW_IN * rows) if stacked else (paper.column_in, 0.55 + ROW_IN * rows)
    figure, axes = plt.subplots(figsize=size_in)
    middle, left = np.array(at) + BAR_AT * stacked, np.zeros(len(at))
    thick = BAR if stacked else 0.8 / len(series)
    for index, mine in enumerate(series if frame["y"].notna().any() else []):
        shift = 0 if stacked else (index - (len(series) - 1) / 2) * thick
        lengths, label = mine["y"].to_numpy(), mine["series"].iloc[0]
        bars = axes.barh(middle + shift, lengths, left=left, height=thick, label=label, **_bar_style(index))
        left += lengths * stacked
        if stacked:
            lane = BAR * LANES * ((index + 0.5) / len(series) - 0.5)
            ends = np.where(mine["y_low"].notna(), left, nan)
            look: dict[str, Any] = {"marker": "o", "markersize": 1.8, "capsize": 1}
            bars.errorbar = _draw_intervals(axes, mine, ends, middle + lane, label="_", **look)
    if len(whole):
        look = {"marker": "D", "markersize": 2.5, "capsize": 1.5}
        _draw_intervals(axes, whole, whole["y"].to_numpy(), np.array(at) + TOTAL_AT, label=TOTAL, **look)
    beside: dict[str, Any] = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
    for place, word in zip(at, points["outcome"], strict=True):
        if word:
            axes.annotate(word, (0, place), **beside)
    axes.set_yticks(range(len(names)), names)
    for place in headings:
        axes.get_yticklabels()[place].set(fontweight="bold", fontfamily="sans-serif")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    limit = plan.study.host.memory_limit_gib
    if limit and not stacked:
        axes.axvline(limit, label=f"limit of {limit:g} GiB", **REFERENCE)
    longest = left.max(initial=0) if stacked else 0
    axes.set_xlim(0, min(axes.get_xlim()[1], ROOM * longest) if longest else None)
    narrow = not stacked  # the panel can be narrower than its axis name
    axes.set_xlabel(points["y_name"].iloc[0], loc="right" if narrow else "center")
    legend_below(figure, axes)
    return figure


def _draw_intervals(
    axes: Axes, rows: pd.DataFrame, ends: np.ndarray, places: np.ndarray, **look: Any
) -> ErrorbarContainer:
    """Draw each row's interval as a line around the end of its bar, and a mark at that end."""
    below, above = rows["y"] - rows["y_low"], rows["y_high"] - rows["y"]
    lengths = np.nan_to_num(np.vstack([below, above])).clip(min=0)
    made = axes.errorbar(ends, places, xerr=lengths, zorder=3, **INTERVAL | look)
    for artist in made.get_children():
        artist.set_path_effects(HALO)
    return made


def _bar_style(index: int) -> dict[str, Any]:
    """Colour and hatch of the series with this index: distinct also in grey."""
    colour, hatch = PALETTE[index % len(PALETTE)], HATCHES[index % len(HATCHES)]
    return {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.3}


breakdown = Drawer(_step_parts, partial(_draw_bars, stacked=True))
memory = Drawer(_memory, partial(_draw_bars, stacked=False))
