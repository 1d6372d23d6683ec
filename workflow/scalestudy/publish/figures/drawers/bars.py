"""Horizontal bars, one row per point: the parts of a step, and peak memory."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scalestudy.publish.figures.panels import MOST_TOGETHER
from scalestudy.publish.figures.style import PALETTE, REFERENCE, legend_below
from scalestudy.publish.figures.tidy import Drawer, Frames, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words import labels
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.column import Row
from scalestudy.registry.estimates import unresolved
from scalestudy.registry.points import PARTS, SPLIT, WHOLE
from scalestudy.study.plan import Plan

ROW_IN = 0.19
"""Height of a row: 7 pt text and a gap."""
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
    return _bar_rows(points, {name: mine for name, mine in times_ms.items() if any(mine)}, "Time per step (ms)")


def _ms(row: Row, part: str) -> float:
    """Milliseconds of a part; 0 if it is shown as another part, is negative, or was not measured."""
    alone = row["world_size"] == 1  # its backward pass is only computation
    known = not isnan(row["exposed_span_s"]) and "exposed_span_s" not in unresolved(row)
    hidden = (WHOLE,) if alone or known else SPLIT
    source = WHOLE if alone and part == SPLIT[0] else part
    value = row[f"{source}_s"] * 1e3
    return 0.0 if part in hidden or isnan(value) else max(value, 0.0)


def _memory(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """GiB of every measured kind of memory, maximum over ranks."""
    points = _points(frames, workload)
    sizes = {name: pd.Series([point[kind] for point in points], dtype=float) for kind, name in MEMORY.items()}
    used = {name: list(mine.fillna(0)) for name, mine in sizes.items() if mine.notna().any()}
    return _bar_rows(points, used, "Memory per rank (GiB)")


def _points(frames: Frames, workload: str) -> Sequence[Row]:
    """Rows of the summary, with the baseline only once."""
    mine = frames.measured(workload)
    return mine[~(mine["is_base"] & mine.duplicated(["variant", "is_base"]))].to_dict("records")


def _bar_rows(points: Sequence[Row], bars: Mapping[str, Sequence[float]], y_name: str) -> pd.DataFrame:
    """The tidy frame of bars. bars: series -> a length for every point.

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
    parts = [rows.assign(series=name, style=style, y=bars[name]) for style, name in enumerate(bars)]
    return tidy(parts or [rows.assign(style=-1)], "tick")


def _below_heading(row: Row) -> str:
    batch = f"batch {int(row['batch_per_rank'])}" + (" per rank" if row["world_size"] > 1 else "")
    return f"{labels.ranks(int(row['world_size']), int(row['nodes']))}, {batch}"


def _draw_bars(plan: Plan, frame: pd.DataFrame, *, stacked: bool) -> Figure:
    """Draw the rows from the top: the bars of a point end to end, or one below the other if not stacked.

    A point without a good run has its outcome instead of bars.
    """
    series = [mine for _, mine in frame.groupby("style")]
    points, names = series[0], list[str]()
    headings, at = [], []
    for group, before, tick in zip(points["group"], ["", *points["group"]], points["tick"], strict=False):
        if group != before:
            headings.append(len(names))
            names.append(group)
        at.append(len(names))
        names.append(tick)
    paper, rows = paper_of(plan), len(names) * (1 if stacked else max(1, 0.75 * len(series)))
    figure, axes = plt.subplots(figsize=(paper.page_in if stacked else paper.column_in, 0.55 + ROW_IN * rows))
    middle, left = np.array(at), np.zeros(len(at))
    thick = 0.7 if stacked else 0.8 / len(series)
    for index, mine in enumerate(series if frame["y"].notna().any() else []):
        shift = 0 if stacked else (index - (len(series) - 1) / 2) * thick
        lengths, label = mine["y"].to_numpy(), mine["series"].iloc[0]
        axes.barh(middle + shift, lengths, left=left, height=thick, label=label, **_bar_style(index))
        left += lengths * stacked
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
    axes.set_xlim(left=0)
    narrow = not stacked  # the panel can be narrower than its axis name
    axes.set_xlabel(points["y_name"].iloc[0], loc="right" if narrow else "center")
    legend_below(figure, axes)
    return figure


def _bar_style(index: int) -> dict[str, Any]:
    """Colour and hatch of the series with this index: distinct also in grey."""
    colour, hatch = PALETTE[index % len(PALETTE)], HATCHES[index % len(HATCHES)]
    return {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.3}


breakdown = Drawer(_step_parts, partial(_draw_bars, stacked=True))
memory = Drawer(_memory, partial(_draw_bars, stacked=False))
