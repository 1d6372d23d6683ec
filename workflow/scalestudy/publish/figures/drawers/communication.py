"""Time of collectives by message size on the idle network, with the fitted line of latency and bandwidth."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from scalestudy.analyse.communication.collectives import GIB
from scalestudy.publish.figures.panels import MOST_TOGETHER, panel_grid
from scalestudy.publish.figures.points import THIN, Panel, draw_points, point_rows, usual_look
from scalestudy.publish.figures.style import REFERENCE, legend_below, log_ticks
from scalestudy.publish.figures.tidy import Drawer, Frames, shown, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words import labels
from scalestudy.study.plan import Plan

PANEL = Panel(
    1, "Message size", "Time per call (ms)", look=partial(usual_look, **THIN), doubling=False, beside="series"
)
PLACE = ["nodes", "world_size"]
FITTED = "all-reduce"
FIT = ["all_reduce_latency_s", "all_reduce_gib_per_s"]


def _call_times(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """The tidy frame: median over runs of the time of a call, maximum over ranks; limits are the range over runs.

    All collectives are in one panel, or each has its own panel. Own columns: FIT, for the all-reduce.
    """
    runs = [(run, spec.nodes, spec.world_size) for run, spec in plan.runs.items() if spec.workload == workload]
    calls = frames.collectives.merge(pd.DataFrame(runs, columns=["run_id", *PLACE]), on="run_id")
    calls = calls[calls["collective"] != "broadcast"]  # measured at one size only: no curve
    times_s = calls.groupby([*PLACE, "collective", "bytes"])["time_s"]
    times_ms = times_s.agg(time_ms="median", time_ms_low="min", time_ms_high="max").mul(1e3).reset_index()
    fits = frames.measured(workload).dropna(subset=FIT).drop_duplicates(PLACE)[[*PLACE, *FIT]]
    calls = times_ms.merge(fits.assign(collective=FITTED), on=[*PLACE, "collective"], how="left")
    names = sorted(set(calls["collective"]))
    apart = len(names) > 1 and len(calls.drop_duplicates([*PLACE, "collective"])) > MOST_TOGETHER
    parts = []
    for number, name in enumerate(names if apart else [""], start=1):
        mine = calls[calls["collective"] == name] if apart else calls
        for style, ((nodes, ranks, collective), points) in enumerate(mine.groupby([*PLACE, "collective"])):
            where = labels.ranks(int(ranks), int(nodes))
            series = f"{collective}, {where}"
            given = {"series": series, "legend": where if apart else series, "style": style, "group": name}
            given |= {column: points[column] for column in FIT}
            parts.append(point_rows(PANEL._replace(number=number), points, "bytes", "time_ms", **given))
    nothing = {"panel": 1, "x_name": PANEL.x_name, "y_name": PANEL.y_name, "outcome": "not measured"}
    return tidy(parts or [pd.DataFrame([nothing])], *FIT)


def _draw(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw time per call by message size. Dashed: latency + bytes / bandwidth (Hockney), fitted to all-reduce."""
    figure, panels = panel_grid(frame, width_in=paper_of(plan).column_in, across=1)
    for axes, (_, rows) in zip(panels, frame.groupby("panel"), strict=False):
        draw_points(axes, rows, PANEL)
        for _, mine in rows.dropna(subset=FIT).groupby("series"):
            latency_s, gib_per_s = mine[FIT].iloc[0]
            sizes = np.geomspace(mine["x"].min(), mine["x"].max())
            times_ms = (latency_s + sizes / (gib_per_s * GIB)) * 1e3
            axes.plot(sizes, times_ms, label="latency + size / bandwidth", **REFERENCE)
    first = panels[0]
    if len(shown(frame)):
        first.set_xscale("log", base=16)  # with a tick per factor of 16, labels do not touch
        first.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _bytes(size)))
        first.xaxis.set_minor_locator(NullLocator())
        first.set_yscale("log")
        log_ticks(first.yaxis)
        legend_below(figure, *panels)
    else:
        first.set_xticks([])
        first.set_yticks([])
        first.annotate(frame["outcome"].iloc[0], (0.5, 0.5), xycoords="axes fraction", ha="center")
    return figure


def _bytes(size: float) -> str:
    """'4 B', '16 KiB', '2 MiB'."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size:g} B"


communication = Drawer(_call_times, _draw)
