"""Speedup, efficiency and throughput against ranks, with the ideal, the target and the forecasts."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.publish.figures.points import Panel, distributed_series, draw_panels, point_rows
from scalestudy.publish.figures.style import (
    BASE_STYLE,
    HEIGHT_IN,
    REFERENCE,
    counts_of,
    legend_below,
    log_ticks,
    percent_axis,
    ratio_axis,
    ratio_limits,
)
from scalestudy.publish.figures.tidy import FORECAST, Drawer, Frames, shown, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words import labels
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import outcomes
from scalestudy.study.plan import Plan

SPEEDUP = Panel(1, "Ranks", "Speedup over one process")
EFFICIENCY = Panel(2, "Ranks", "Efficiency")
THROUGHPUT = Panel(1, "Ranks", "Throughput (samples/s)")
HOLLOW = "forecast (hollow)"
"""The legend entry of all forecasts."""
ONE_PROCESS = "one process"
"""The baseline in the panels of speedup and efficiency, where it is 1 in every variant."""
MOST_NAMED = 4
"""Most batch sizes that the name of a series lists."""
AXIS_IN = 0.5
"""Height of the labels and the name of a horizontal axis."""


def _at_batches(ranks: int) -> Panel:
    return Panel(3, "Batch per rank", f"Efficiency on {ranks} ranks", chained=True)


def _scaling(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """The tidy frame: speedup and efficiency of every series, then efficiency at larger batches on the most ranks.

    The baseline is a series of its own, since all series begin with it. Own columns: `ranks`, the largest number
    of ranks with forecasts for larger batches; `base`.
    """
    forecasts = frames.forecasts[(frames.forecasts["workload"] == workload) & frames.forecasts["speedup"].notna()]
    foretold, larger = (forecasts[forecasts["forecast_of"] == of] for of in ("scale", "batch"))
    most = int(larger["world_size"].max()) if len(larger) else 0
    mine = frames.measured(workload)
    every = distributed_series(mine)
    base, parts = _bases(mine, every).head(1), []
    begins = _one_process(base)
    for panel, y in ((SPEEDUP, "speedup"), (EFFICIENCY, "efficiency")):
        parts.append(point_rows(panel, base, "world_size", y, outcomes, series=begins, style=BASE_STYLE))
    for style, (series, points) in enumerate(every):
        own, given = points[~points["is_base"]], dict[str, Any](style=style, base=_base_of(points, begins))
        for panel, y in ((SPEEDUP, "speedup"), (EFFICIENCY, "efficiency")):
            parts.append(point_rows(panel, own, "world_size", y, outcomes, series=series, **given))
            parts.append(_forecast_rows(panel, _continuing(points, foretold, y), "world_size", y, **given))
        last = points[points["efficiency"].notna() & (points["world_size"] > 1)].tail(1)
        where = ["variant", "scaling", "nodes", "devices_per_node"]
        more = larger.merge(last[where], on=where).sort_values("batch_per_rank")
        if len(more):
            xy, given = ("batch_per_rank", "efficiency"), {"style": style, "ranks": most}
            name = last["variant"] + ", " + last["scaling"] + " scaling"
            parts.append(point_rows(_at_batches(most), last, *xy, series=name, legend=series, **given))
            parts.append(_forecast_rows(_at_batches(most), more, *xy, **given))
    return _with_base(tidy(parts, "ranks", "base"))


def _one_process(base: pd.DataFrame) -> str:
    """'one process', or '8 ranks (baseline)' where imported runs have none on one."""
    most = int(base["world_size"].iloc[0]) if len(base) else 1
    return ONE_PROCESS if most == 1 else f"{labels.ranks(most)} (baseline)"


def _bases(mine: pd.DataFrame, every: list[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """The baselines at which series begin, each once; those of the workload where an import has no series."""
    found = [points[points["is_base"]] for _, points in every]
    together = pd.concat(found) if found else mine[mine["is_base"]]
    return together.drop_duplicates(["variant", "batch_per_rank"])


def _base_of(points: pd.DataFrame, name: str) -> str:
    """The name, if the series begins with a baseline."""
    return name if points["is_base"].any() else ""


def _with_base(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(base=frame["base"].fillna("").astype(object))


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

    Speedup is on logarithmic axes, where the ideal is straight. Bars are intervals. Forecasts are hollow, with a
    thin line from the last measured point; their bars cover all growth models.
    """
    larger = frame[frame["panel"] == 3]
    most = int(larger["ranks"].max()) if len(larger) else 0
    panels = [SPEEDUP, EFFICIENCY, *([_at_batches(most)] if most else [])]
    figure, (left, right, *batches) = draw_panels(frame, *panels, width_in=paper_of(plan).page_in)
    ranks = counts_of(frame[frame["panel"] < 3]["x"])
    ends = [ranks[0], ranks[-1]]
    left.plot(ends, ends, label="ideal", **REFERENCE)
    limits = ratio_limits(shown(frame[frame["panel"] == SPEEDUP.number]), *ends)
    ratio_axis(left, ranks, limits, HEIGHT_IN - AXIS_IN)
    target, dotted = plan.study.report.target_efficiency, REFERENCE | {"linestyle": ":"}
    right.axhline(1, **REFERENCE)
    bases = frame[(frame["panel"] == EFFICIENCY.number) & (frame["style"] == BASE_STYLE)]["x"]
    first = max(1.0, float(bases.min())) if len(bases) else 1.0
    if first > 1:
        left.set_ylabel(f"Speedup, {first:.0f} ranks = {first:.0f}")
    along = np.geomspace(ends[0], ends[-1])
    targets = [compounded_efficiency(target, count / first) for count in along]
    right.plot(along, targets, label=f"target: {percent(target)} per doubling", **dotted)
    for axes, panel in zip((right, *batches), panels[1:], strict=True):
        # The bar of a forecast can be several times as long as all others; it then runs out of the panel.
        highest = shown(frame[frame["panel"] == panel.number])["y"].max()
        axes.set_ylim(0, max(min(1.02 * axes.get_ylim()[1], 2 * highest), 1.1))
        percent_axis(axes)
    for axes in batches:
        axes.axhline(1, **REFERENCE)
        axes.axhline(compounded_efficiency(target, most), **dotted)
    legend_below(figure, left, right, *batches, last=HOLLOW)
    return figure


def _throughput(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """The tidy frame: samples per second of every series, and of each baseline once.

    Own columns: `ideal`, the baseline times the ranks; `base`.
    """
    mine, y = frames.measured(workload), "throughput_samples_per_s"
    bases = mine[mine["is_base"]]
    base = (bases[y] / bases["world_size"]).dropna()

    def rows(points: pd.DataFrame, **given: Any) -> pd.DataFrame:
        ideal = base.iloc[0] * points["world_size"] if len(base) else None
        return point_rows(THROUGHPUT, points, "world_size", y, outcomes, ideal=ideal, **given)

    every = distributed_series(mine)
    parts = [
        rows(points, series=_base_name(points), style=BASE_STYLE)
        for _, points in _bases(mine, every).groupby(["variant", "batch_per_rank"], sort=False)
    ]
    for style, (name, points) in enumerate(every):
        own = points[~points["is_base"]]
        batches = own.loc[own["world_size"] > 1, "batch_per_rank"].unique()
        sizes = f"{batches[0]} to {batches[-1]}" if len(batches) > MOST_NAMED else ", ".join(map(str, batches))
        series = f"{name}, batch {sizes} per rank"
        begins = _base_of(points, _base_name(points[points["is_base"]]))
        parts.append(rows(own, series=series, style=style, base=begins))
    return _with_base(tidy(parts, "ideal", "base"))


def _base_name(points: pd.DataFrame) -> str:
    """'single, one process, batch 32' for the rows of a baseline; '' for none."""
    return "".join(
        f"{row.variant}, {_one_process(points)}, batch {row.batch_per_rank}" for row in points.head(1).itertuples()
    )


def _draw_throughput(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw throughput with interval bars on logarithmic axes; the ideal line starts at the baseline."""
    figure, (axes,) = draw_panels(frame, THROUGHPUT, width_in=paper_of(plan).column_in)
    base, ranks = (frame["ideal"] / frame["x"]).dropna(), counts_of(frame["x"])
    ideal = base.iloc[0] * np.array([ranks[0], ranks[-1]]) if len(base) else np.array([])
    if len(base):
        axes.plot([ranks[0], ranks[-1]], ideal, label="ideal from the baseline", **REFERENCE)
    if len(shown(frame)):
        axes.set_yscale("log")
        axes.set_ylim(*ratio_limits(shown(frame), *ideal))
        log_ticks(axes.yaxis)
    legend_below(figure, axes)
    return figure


speedup = Drawer(_scaling, _draw_scaling)
throughput = Drawer(_throughput, _draw_throughput)
