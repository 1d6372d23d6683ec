"""What a collective costs by its message size on the idle network, beside the line of latency and bandwidth."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from scalestudy.analyse.collectives import GIB
from scalestudy.publish import labels
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.style import HEIGHT_IN, REFERENCE, legend_below, series_style
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan

PLACE = ["nodes", "world_size"]


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Median over launches of a call's time, the largest over ranks; bars are the range of launches.

    Dashed: latency + bytes / bandwidth (Hockney) of the all-reduce, as fitted to it.
    """
    figure, axes = plt.subplots(figsize=(paper_of(plan).column_in, HEIGHT_IN))
    calls = _calls(plan, workload, frames.collectives)
    series = 0
    for (nodes, ranks), here in calls.groupby(PLACE, sort=True):
        _draw_fit(axes, frames.measured(workload), nodes=nodes, ranks=ranks, sizes=here["bytes"], first=not series)
        for name, mine in here.groupby("collective", sort=True):
            label = f"{name}, {labels.ranks(int(ranks), int(nodes))}"
            _draw_times(axes, mine.groupby("bytes")["time_s"], label=label, index=series)
            series += 1
    axes.set_xscale("log", base=16)  # of a tick every 16 times, no two touch
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _bytes(size)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda time_ms, _: f"{time_ms:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("Message size")
    axes.set_ylabel("Time of a call (ms)")
    if series:
        legend_below(figure, axes)
    else:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.annotate("not measured", (0.5, 0.5), xycoords="axes fraction", ha="center")
    return figure


def _calls(plan: Plan, workload: str, collectives: pd.DataFrame) -> pd.DataFrame:
    """Rows of collectives.csv of a workload, with where they were made. Broadcasts are of one size: no curve."""
    mine = {run_id: spec for run_id, spec in plan.runs.items() if spec.workload == workload}
    places = [(run_id, spec.nodes, spec.world_size) for run_id, spec in mine.items()]
    found = collectives.merge(pd.DataFrame(places, columns=["run_id", *PLACE]), on="run_id")
    return found[found["collective"] != "broadcast"]


def _draw_times(axes: Axes, times_s: pd.api.typing.SeriesGroupBy, *, label: str, index: int) -> None:
    middle, low, high = (times_s.quantile(q) * 1e3 for q in (0.5, 0.0, 1.0))
    style = {"capsize": 2.0, "elinewidth": 0.7, **series_style(index)}
    axes.errorbar(middle.index, middle, yerr=[middle - low, high - middle], label=label, **style)


def _draw_fit(
    axes: Axes, measured: pd.DataFrame, *, nodes: int, ranks: int, sizes: pd.Series, first: bool
) -> None:
    """The line of the all-reduce of a place; its numbers are the summary's."""
    here = measured[(measured["nodes"] == nodes) & (measured["world_size"] == ranks)]
    here = here[here["all_reduce_latency_s"].notna() & here["all_reduce_gib_per_s"].notna()]
    if not len(here):
        return
    latency_s, gib_per_s = here.iloc[0]["all_reduce_latency_s"], here.iloc[0]["all_reduce_gib_per_s"]
    along = np.geomspace(sizes.min(), sizes.max())
    label = "latency + size / bandwidth" if first else "_"
    axes.plot(along, (latency_s + along / (gib_per_s * GIB)) * 1e3, label=label, **REFERENCE)


def _bytes(size: float) -> str:
    """'4 B', '16 KiB', '2 MiB'."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size:g} B"
