"""Where a step's time goes, stacked in the order of a step."""

from __future__ import annotations

from math import isnan

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from scalestudy.publish.figures.bars import bar_style, height_in, name_rows, rows_of
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.style import legend_below
from scalestudy.publish.papers import paper_of
from scalestudy.registry.points import PARTS, SPLIT, WHOLE
from scalestudy.study.plan import Plan

COMPUTATION = SPLIT[0]


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Milliseconds of each part. Where communication was probed, the backward pass is shown as its two parts."""
    rows = rows_of(frames, workload)
    times = {part: [_ms(row, part) for row in rows.points.to_dict("records")] for part in PARTS}
    used = [part for part, values in times.items() if any(values)]
    figure, axes = plt.subplots(figsize=(paper_of(plan).page_in, height_in(rows.places)))
    left = np.zeros(len(rows.at))
    for index, part in enumerate(used):
        axes.barh(rows.at, times[part], left=left, label=PARTS[part][0], height=0.7, **bar_style(index))
        left += times[part]
    name_rows(axes, rows)
    axes.set_xlabel("Time of a step (ms)")
    legend_below(figure, axes)
    return figure


def _ms(row: dict, part: str) -> float:
    """Milliseconds; nothing for what is shown otherwise, for a part below zero, and where nothing was measured."""
    alone = row["world_size"] == 1  # its backward pass is computation and nothing else
    hidden = (WHOLE,) if alone or not isnan(row["exposed_span_s"]) else SPLIT
    shown = WHOLE if alone and part == COMPUTATION else part
    value = row[f"{shown}_s"] * 1e3
    return 0.0 if part in hidden or isnan(value) else max(value, 0.0)
