"""DDP against FSDP by the size of the model: which is faster, and what each takes in memory."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scalestudy.analyse.point.crossover import beside_ddp, overtaking
from scalestudy.publish import labels
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.points import draw_series
from scalestudy.publish.figures.style import HEIGHT_IN, REFERENCE, legend_below, mark_missing, series_style
from scalestudy.publish.papers import paper_of
from scalestudy.publish.results import failure_word
from scalestudy.publish.rounding import show_scaled
from scalestudy.registry.codes import LAUNCH_ENDS
from scalestudy.study.plan import Plan

MEMORY = {"peak_allocated_gib": "Peak allocated memory (GiB)", "peak_resident_gib": "Peak resident memory (GiB)"}
"""The first that was measured: that of the device where it counts its own."""
ENDED = tuple(f"launches_{end}" for end in LAUNCH_ENDS)
APART = 1.25
"""Sizes that are closer than this share a tick."""


def draw(plan: Plan, frames: Frames) -> Figure:
    """Left: throughput of each FSDP variant over that of DDP, by parameters; shaded: where it overtakes DDP.

    Right: peak memory of the rank that has most, of every variant. What has no good launch has its outcome there.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(paper_of(plan).page_in, HEIGHT_IN))
    found = list(beside_ddp(frames.summary))
    places = {key[1:] for key, _ in found}
    series = 0
    drawn: set[tuple[str, ...]] = set()
    kind = next((name for name in MEMORY if frames.summary[name].notna().any()), "peak_resident_gib")
    for (variant, *place), points in found:
        where = _where(*place) if len(places) > 1 else ""
        _draw_speed(left, points, label=f"{variant}{where}", index=series)
        _draw_memory(right, points, kind, label=f"{variant}{where}", index=series)
        series += 1
        same = {name: points[f"{name}_of_ddp"] for name in ("variant", *ENDED, kind)}
        ddp = points.assign(**same)
        named = (str(points["ddp_variant"].iloc[0]), *map(str, place))
        if named not in drawn:
            drawn.add(named)
            _draw_memory(right, ddp, kind, label=f"{named[0]}{where}", index=series)
            series += 1
    left.axhline(1, **REFERENCE)
    left.set_ylabel("Throughput over DDP")
    right.set_ylabel(MEMORY[kind])
    limit = plan.study.host.memory_limit_gib
    if limit:
        right.axhline(limit, label=f"limit of {limit:g} GiB", **REFERENCE)
    sizes = [size for _, points in found for size in points["parameters"]]
    for axes in (left, right):
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        if sizes:
            _size_axis(axes, sizes)
    legend_below(figure, right, left)
    return figure


def _where(scaling: str, nodes: int, devices_per_node: int) -> str:
    return f", {scaling}, {labels.ranks(nodes * devices_per_node, nodes)}"


def _draw_speed(axes: Axes, points: pd.DataFrame, *, label: str, index: int) -> None:
    """Ratios, and the span in which they pass 1; where there is no ratio, whose outcome is to blame."""
    good = points[points["relative_throughput"].notna()]
    draw_series(axes, good, "relative_throughput", label=label, index=index, x="parameters")
    for _, point in points[points["relative_throughput"].isna()].iterrows():
        own = failure_word(point)
        other = failure_word({name: point[f"{name}_of_ddp"] for name in ENDED})
        said = [
            f"{name}: {word}" for name, word in ((point["variant"], own), (point["ddp_variant"], other)) if word
        ]
        mark_missing(axes, point["parameters"], "\n".join(said) or "no ratio")
    where = overtaking(points)
    if where:
        colour = series_style(index)["color"]
        axes.axvspan(where.slower_at, where.faster_at, color=colour, alpha=0.12, linewidth=0)


def _draw_memory(axes: Axes, points: pd.DataFrame, kind: str, *, label: str, index: int) -> None:
    good = points[points[kind].notna()]
    axes.plot(good["parameters"], good[kind], label=label, **series_style(index))
    for _, point in points[points[kind].isna()].iterrows():
        word = failure_word(point)
        mark_missing(axes, point["parameters"], f"{point['variant']}: {word}" if word else "not measured")


def _size_axis(axes: Axes, sizes: list[float]) -> None:
    """A logarithmic axis of parameters with ticks at the measured models."""
    ticks: list[float] = []
    for size in sorted(set(sizes)):
        if not ticks or size > APART * ticks[-1]:
            ticks.append(size)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: show_scaled(size).value))
    axes.set_xlim(min(sizes) / 1.6, max(sizes) * 1.6)
    axes.set_xlabel("Parameters")
