"""Peak memory of the rank that has most, of every point; what did not fit has its outcome there."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from scalestudy.publish.figures.bars import bar_style, height_in, name_rows, rows_of
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.style import REFERENCE, legend_below
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan

KINDS = {
    "peak_allocated_gib": "peak allocated",
    "peak_reserved_gib": "peak reserved",
    "peak_resident_gib": "peak resident on the host",
}


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """GiB, a bar for every kind that was measured; the study's own limit as a line, where it has one."""
    rows = rows_of(frames, workload)
    used = [kind for kind in KINDS if rows.points[kind].notna().any()]
    figure, axes = plt.subplots(
        figsize=(paper_of(plan).column_in, height_in(rows.places * max(1, 0.75 * len(used))))
    )
    height = 0.8 / max(1, len(used))
    for index, kind in enumerate(used):
        middle = np.array(rows.at) + (index - (len(used) - 1) / 2) * height
        axes.barh(middle, rows.points[kind].fillna(0), label=KINDS[kind], height=height, **bar_style(index))
    limit = plan.study.host.memory_limit_gib
    if limit:
        axes.axvline(limit, label=f"limit of {limit:g} GiB", **REFERENCE)
    name_rows(axes, rows)
    axes.set_xlabel("Memory of a rank (GiB)", loc="right")  # the panel may be narrower than its name
    legend_below(figure, axes)
    return figure
