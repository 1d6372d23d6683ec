"""DDP and FSDP by model size: relative throughput and memory."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from scalestudy.analyse.point.crossover import beside_ddp, overtaking
from scalestudy.publish.figures.points import Panel, draw_panels, point_rows
from scalestudy.publish.figures.style import REFERENCE, legend_below, series_style
from scalestudy.publish.figures.tidy import Drawer, Frames, tidy
from scalestudy.publish.numbers.rounding import show_scaled
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words import labels
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.codes import LAUNCH_ENDS
from scalestudy.registry.column import Row
from scalestudy.study.plan import Plan

SPEED = Panel(1, "Parameters", "Throughput relative to DDP", doubling=False)
MEMORY = {
    name: Panel(2, "Parameters", f"Peak {kind} memory (GiB)", doubling=False, bars="")
    for name, kind in (("peak_allocated_gib", "allocated"), ("peak_resident_gib", "resident"))
}
"""Panels for peak memory; the first measured kind is drawn: allocated on the device if it reports that."""
ENDED = tuple(f"launches_{end}" for end in LAUNCH_ENDS)
OF_DDP = "_of_ddp"
"""Suffix of the columns of the DDP variant with which a point is compared."""
APART = 1.25
"""Sizes within this ratio share a tick."""


def _by_size(plan: Plan, frames: Frames) -> pd.DataFrame:
    """The tidy frame: throughput of each FSDP variant relative to DDP by parameters, then peak memory.

    Own columns: `slower_at` and `faster_at`, the sizes between which a series overtakes DDP.
    """
    found = list(beside_ddp(frames.summary))
    several = len({key[1:] for key, _ in found}) > 1
    memory = next((name for name in MEMORY if frames.summary[name].notna().any()), "peak_resident_gib")
    parts: list[pd.DataFrame] = []
    styles: dict[str, int] = {}
    for (_, scaling, nodes, devices), points in found:
        where = f", {scaling}, {labels.ranks(nodes * devices, nodes)}" if several else ""
        limits = overtaking(points)
        for panel, y, sides in (
            (SPEED, "relative_throughput", ("", OF_DDP)),
            (MEMORY[memory], memory, ("",)),
            (MEMORY[memory], f"{memory}{OF_DDP}", (OF_DDP,)),
        ):
            series = f"{points[f'variant{sides[0]}'].iloc[0]}{where}"
            if sides == (OF_DDP,) and series in styles:  # the same DDP variant, compared with another FSDP variant
                continue
            given = {"series": series, "style": styles.setdefault(series, len(styles))}
            given |= limits if panel is SPEED else {}
            rows = point_rows(panel, points, "parameters", y, partial(_missing, sides), **given)
            parts.append(rows.explode("outcome"))
    return tidy(parts, "slower_at", "faster_at")


def _missing(sides: Sequence[str], point: Row) -> list[str]:
    """Why a point has no value: the outcomes of its variants."""
    found = []
    for side in sides:
        if word := failure_word({name: point[f"{name}{side}"] for name in ENDED}):
            found.append(f"{point[f'variant{side}']}: {word}")
    return found or ["no ratio" if len(sides) > 1 else "not measured"]


def _draw(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw throughput relative to DDP (left; shaded: where FSDP overtakes DDP) and memory (right)."""
    allocated, resident = MEMORY.values()
    memory = allocated if allocated.y_name in set(frame["y_name"]) else resident
    figure, (left, right) = draw_panels(frame, SPEED, memory, width_in=paper_of(plan).page_in)
    for row in frame[frame["slower_at"].notna()].drop_duplicates("series").to_dict("records"):
        colour = series_style(int(row["style"]))["color"]
        left.axvspan(row["slower_at"], row["faster_at"], color=colour, alpha=0.12, linewidth=0)
    left.axhline(1, **REFERENCE)
    limit = plan.study.host.memory_limit_gib
    label = f"limit of {limit:g} GiB" if limit else ""
    if limit:
        right.axhline(limit, label=label, **REFERENCE)
    for axes in (left, right):
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        if len(frame):
            _size_axis(axes, sorted(set(frame["x"])))
    legend_below(figure, right, left, last=label)
    return figure


def _size_axis(axes: Axes, sizes: Sequence[float]) -> None:
    """Make x a logarithmic axis of parameters with ticks at the measured models. sizes: in ascending order."""
    ticks: list[float] = []
    for size in sizes:
        if not ticks or size > APART * ticks[-1]:
            ticks.append(size)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [show_scaled(size).value for size in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(sizes[0] / 1.6, sizes[-1] * 1.6)


crossover = Drawer(_by_size, _draw)
