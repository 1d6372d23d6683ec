"""What a collective costs by its message size on the idle network, beside the line of latency and bandwidth."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from scalestudy.analyse.communication.collectives import GIB
from scalestudy.publish import labels
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.panels import MOST_TOGETHER, name_axes, panels
from scalestudy.publish.figures.style import REFERENCE, legend_below, log_ticks, series_style
from scalestudy.publish.papers import paper_of
from scalestudy.study.plan import Plan

PLACE = ["nodes", "world_size"]
FITTED = "all-reduce"


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Median over launches of a call's time, the largest over ranks; bars are the range of launches.

    Dashed: latency + bytes / bandwidth (Hockney) of the all-reduce, as fitted to it.
    """
    calls = _calls(plan, workload, frames.collectives)
    groups = _groups(calls)
    figure, made = panels(list(groups), width_in=paper_of(plan).column_in, across=1)
    names: dict[str, str] = {}
    for (axes,), (collective, mine) in zip(made, groups.items(), strict=True):
        names |= _draw_places(axes, mine, frames.measured(workload), collective)
    name_axes(made, x=["Message size"], y="Time of a call (ms)")
    first = made[0][0]
    if names:
        first.set_xscale("log", base=16)  # of a tick every 16 times, no two touch
        first.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _bytes(size)))
        first.xaxis.set_minor_locator(NullLocator())
        first.set_yscale("log")
        log_ticks(first.yaxis)
        legend_below(figure, *(axes for (axes,) in made), names=names)
    else:
        first.set_xticks([])
        first.set_yticks([])
        first.annotate("not measured", (0.5, 0.5), xycoords="axes fraction", ha="center")
    return figure


def _groups(calls: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The calls of each panel by its name: all in one, or a panel for every collective."""
    series = calls[["collective", *PLACE]].drop_duplicates()
    names = sorted(set(series["collective"]))
    if len(series) <= MOST_TOGETHER or len(names) < 2:
        return {"": calls}
    return {name: calls[calls["collective"] == name] for name in names}


def _draw_places(axes: Axes, calls: pd.DataFrame, measured: pd.DataFrame, collective: str) -> dict[str, str]:
    """Every collective at every place, and the fit where all-reduce is; returns label -> name in the legend.

    collective: of the panel; '' where it has all of them.
    """
    names: dict[str, str] = {}
    for index, ((nodes, ranks), here) in enumerate(calls.groupby(PLACE, sort=True)):
        if collective in ("", FITTED):
            _draw_fit(axes, measured, nodes=nodes, ranks=ranks, sizes=here["bytes"], first=not index)
        for name, mine in here.groupby("collective", sort=True):
            where = labels.ranks(int(ranks), int(nodes))
            label = f"{name}, {where}"
            _draw_times(axes, mine.groupby("bytes")["time_s"], label=label, index=len(names))
            names[label] = where if collective else label
    return names


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
