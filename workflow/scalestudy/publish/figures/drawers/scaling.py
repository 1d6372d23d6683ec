"""Speedup, efficiency and throughput against ranks, with the ideal, the target and the forecasts."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.publish.figures.points import Panel, distributed_series, draw_panels, point_rows
from scalestudy.publish.figures.style import REFERENCE, counts_of, legend_below
from scalestudy.publish.figures.tidy import FORECAST, Drawer, Frames, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan

SPEEDUP = Panel(1, "Ranks", "Speedup over one process")
EFFICIENCY = Panel(2, "Ranks", "Efficiency")
THROUGHPUT = Panel(1, "Ranks", "Throughput (samples/s)")
HOLLOW = "forecast (hollow)"
"""The legend entry of all forecasts."""


def _at_batches(ranks: int) -> Panel:
    return Panel(3, "Batch per rank", f"Efficiency on {ranks} ranks", chained=True)


def _scaling(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """The tidy frame: speedup and efficiency of every series, then efficiency at larger batches on the most ranks.

    Own column: `ranks`, the largest number of ranks with forecasts for larger batches.
    """
    forecasts = frames.forecasts[(frames.forecasts["workload"] == workload) & frames.forecasts["speedup"].notna()]
    foretold, larger = (forecasts[forecasts["forecast_of"] == of] for of in ("scale", "batch"))
    most = int(larger["world_size"].max()) if len(larger) else 0
    parts = []
    for style, (series, points) in enumerate(distributed_series(frames.measured(workload))):
        for panel, y in ((SPEEDUP, "speedup"), (EFFICIENCY, "efficiency")):
            parts.append(point_rows(panel, points, "world_size", y, outcomes, series=series, style=style))
            parts.append(_forecast_rows(panel, _continuing(points, foretold, y), "world_size", y, style=style))
        last = points[points["efficiency"].notna() & (points["world_size"] > 1)].tail(1)
        where = ["variant", "scaling", "nodes", "devices_per_node"]
        more = larger.merge(last[where], on=where).sort_values("batch_per_rank")
        if len(more):
            xy, given = ("batch_per_rank", "efficiency"), dict[str, Any](style=style, ranks=most)
            name = last["variant"] + ", " + last["scaling"] + " scaling"
            parts.append(point_rows(_at_batches(most), last, *xy, series=name, legend=series, **given))
            parts.append(_forecast_rows(_at_batches(most), more, *xy, **given))
    return tidy(parts, "ranks")


def _forecast_rows(panel: Panel, points: pd.DataFrame, x: str, y: str, **given: Any) -> pd.DataFrame:
    series = points["variant"] + ", " + points["scaling"] + " scaling, forecast"
    return point_rows(panel, points, x, y, series=series, legend=HOLLOW, kind=FORECAST, **given)


def _continuing(points: pd.DataFrame, foretold: pd.DataFrame, column: str) -> pd.DataFrame:
    """The forecasts that continue a series: with more ranks than its smallest point with a value in the column."""
    good = points[points[column].notna()]
    last = good.tail(1)
    same = foretold.merge(last[["variant", "scaling"]], on=["variant", "scaling"])
    if points[points["world_size"] > 1]["nodes"].nunique() == 1:  # the series has its own forecasts
        same = same[(same["nodes"] > 1) == (last["nodes"] > 1).any()]
    return same[same["world_size"] > good["world_size"].min()]


def _draw_scaling(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw speedup with the ideal line, efficiency from 0 with the target, and any efficiency at larger batches.

    Bars are intervals. Forecasts are hollow, with a thin line from the last measured point; their bars cover all
    growth models.
    """
    larger = frame[frame["panel"] == 3]
    most = int(larger["ranks"].max()) if len(larger) else 0
    panels = [SPEEDUP, EFFICIENCY, *([_at_batches(most)] if most else [])]
    figure, (left, right, *batches) = draw_panels(frame, *panels, width_in=paper_of(plan).page_in)
    ranks = _along(frame[frame["panel"] < 3]["x"])
    left.plot(ranks, ranks, label="ideal", **REFERENCE)
    target, dotted = plan.study.report.target_efficiency, REFERENCE | {"linestyle": ":"}
    right.axhline(1, **REFERENCE)
    targets = [compounded_efficiency(target, count) for count in ranks]
    right.plot(ranks, targets, label=f"target: {target:.0%} per doubling", **dotted)
    for axes, room in ((left, 1.05), *((axes, 1.02) for axes in (right, *batches))):
        axes.set_ylim(0, max(room * axes.get_ylim()[1], 1.1))
    for axes in batches:
        axes.axhline(1, **REFERENCE)
        axes.axhline(compounded_efficiency(target, most), **dotted)
    legend_below(figure, left, right, *batches, last=HOLLOW)
    return figure


def _along(counts: pd.Series) -> np.ndarray:
    """Ranks from the fewest to the most, closely spaced: a straight line is a curve on a logarithmic axis."""
    found = counts_of(counts)
    return np.geomspace(found[0], found[-1])


def _throughput(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """The tidy frame: samples per second of every series. Own column: `ideal`, the baseline times the ranks."""
    mine, y = frames.measured(workload), "throughput_samples_per_s"
    base = mine[mine["is_base"]][y].dropna()
    parts = []
    for style, (name, points) in enumerate(distributed_series(mine)):
        batches = points.loc[points["world_size"] > 1, "batch_per_rank"].unique()
        series = f"{name}, batch {', '.join(map(str, batches))} per rank"
        ideal = base.iloc[0] * points["world_size"] if len(base) else None
        given = {"series": series, "style": style, "ideal": ideal}
        parts.append(point_rows(THROUGHPUT, points, "world_size", y, outcomes, **given))
    return tidy(parts, "ideal")


def _draw_throughput(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw throughput with interval bars; the ideal line starts at the baseline's throughput."""
    figure, (axes,) = draw_panels(frame, THROUGHPUT, width_in=paper_of(plan).column_in)
    base = (frame["ideal"] / frame["x"]).dropna()
    if len(base):
        ranks = _along(frame["x"])
        axes.plot(ranks, base.iloc[0] * ranks, label="ideal from the baseline", **REFERENCE)
    axes.set_ylim(bottom=0)
    legend_below(figure, axes)
    return figure


speedup = Drawer(_scaling, _draw_scaling)
throughput = Drawer(_throughput, _draw_throughput)
