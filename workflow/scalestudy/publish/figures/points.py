"""Points over ranks with interval bars, measured and forecast: what the figures of scaling share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.transforms import ScaledTranslation

from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.style import REFERENCE, doubling_axis, mark_missing, series_style
from scalestudy.registry.words.outcomes import outcomes

FORECAST = "forecast (hollow)"
APART_PT, WIDEST_PT = 3.0, 30.0
"""Between series that stand at the same ranks, and of all of them."""


def distributed_series(mine: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """('ddp, strong', its points with the base case first) for every variant and scaling of a workload."""
    found = []
    distributed = mine[~mine["is_base"]]
    for (variant, scaling), points in distributed.groupby(["variant", "scaling"], sort=False):
        named = mine["variant"] == points["base_variant"].iloc[0]
        base = mine[mine["is_base"] & (mine["scaling"] == scaling) & named]
        # The wrapped model on one rank, where it was measured, is a series' own beginning.
        begins = (points["world_size"] == 1).any()
        together = points if begins else pd.concat([base, points])
        name = f"{variant}, {scaling} scaling"
        if not points["world_size"].duplicated().any():
            found.append((name, together.sort_values("world_size")))
            continue
        # As many ranks on one node and on two are two questions, and not one line with a step in it.
        for nodes, part in points.groupby("nodes", sort=True):
            where = f"{nodes} nodes" if nodes > 1 else "one node"
            # One point and the base case are two machines, with nothing measured between them: no line.
            line = pd.concat([base, part]) if len(part) > 1 or nodes == 1 else part
            found.append((f"{name}, {where}", line.sort_values("world_size")))
    return found


def draw_series(
    axes: Axes, points: pd.DataFrame, column: str, *, label: str, index: int, x: str = "world_size"
) -> None:
    """Points with interval bars, joined over ranks; a point without a value is marked with its outcomes."""
    good = points[points[column].notna()]
    limits = np.vstack(
        [(good[column] - good[f"{column}_low"]).fillna(0), (good[f"{column}_high"] - good[column]).fillna(0)]
    )
    style = {"capsize": 2.5, "elinewidth": 0.8, **series_style(index)}
    axes.errorbar(good[x], good[column], yerr=limits, label=label, **style)
    for _, point in points[points[column].isna()].iterrows():
        mark_missing(axes, point[x], outcomes(point))


def draw_beside(
    axes: Axes, x: pd.Series, y: pd.Series, limits: np.ndarray, *, index: int, count: int, **style: Any
) -> ErrorbarContainer:
    """Points with bars, those of the index-th of `count` series beside the others': in the picture, not the data.

    limits: shape (2, points), lengths below and above.
    """
    shift_pt = (index - (count - 1) / 2) * min(APART_PT, WIDEST_PT / count)
    drawn = axes.errorbar(
        x,
        y,
        yerr=np.nan_to_num(limits),
        transform=axes.transData + ScaledTranslation(shift_pt / 72, 0, axes.figure.dpi_scale_trans),
        **style,
    )
    ends = np.concatenate([y - np.nan_to_num(limits[0]), y, y + np.nan_to_num(limits[1])])
    axes.update_datalim(np.column_stack([np.tile(x, 3), ends]))  # what is shifted does not count by itself
    return drawn


def forecasts_of(frames: Frames, workload: str, *, of: str = "scale") -> pd.DataFrame:
    """The forecasts of a workload that were not refused; of: scales, or batches."""
    mine = frames.forecasts[frames.forecasts["workload"] == workload]
    return mine[(mine["forecast_of"] == of) & mine["speedup"].notna()]


def draw_forecasts(axes: Axes, foretold: pd.DataFrame, points: pd.DataFrame, column: str, *, index: int) -> None:
    """What is forecast for a series, hollow, each tied to the largest measured point of as many nodes or fewer.

    foretold: from forecasts_of. points: of the series, as draw_series has them.
    """
    good = points[points[column].notna()]
    if not len(good) or not len(foretold):
        return
    last = good.iloc[-1]
    same = foretold[(foretold["variant"] == last["variant"]) & (foretold["scaling"] == last["scaling"])]
    if points[points["world_size"] > 1]["nodes"].nunique() == 1:  # a series of its own nodes has its own forecasts
        same = same[(same["nodes"] > 1) == (last["nodes"] > 1)]
    for _, point in same.iterrows():
        before = good[good["world_size"] < point["world_size"]]
        if len(before):
            _draw_forecast(axes, before.iloc[-1], point, "world_size", column, index=index)


def draw_batches(axes: Axes, larger: pd.DataFrame, points: pd.DataFrame, column: str, *, index: int) -> None:
    """The point of a series on most ranks against its batch, and what is forecast for larger ones, hollow.

    larger: from forecasts_of batches. points: of the series, as draw_series has them.
    """
    good = points[points[column].notna() & (points["world_size"] > 1)]
    if not len(good):
        return
    last = good.iloc[-1]
    where = ["variant", "scaling", "nodes", "devices_per_node"]
    same = larger[(larger[where] == last[where]).all(axis=1)]
    if not len(same):
        return
    hidden = f"_{last['variant']}, {last['scaling']} scaling"  # the legend has it already
    draw_series(axes, good.iloc[-1:], column, label=hidden, index=index, x="batch_per_rank")
    before = last
    for _, point in same.sort_values("batch_per_rank").iterrows():
        _draw_forecast(axes, before, point, "batch_per_rank", column, index=index)
        before = point


def finish_batches(axes: Axes, larger: pd.DataFrame, *, target: float) -> None:
    """Axes of draw_batches, with the target and what is ideal."""
    axes.axhline(1, **REFERENCE)
    axes.axhline(target, **REFERENCE | {"linestyle": ":"})
    first = larger["batch_per_rank"].min() // 2
    doubling_axis(axes, sorted({int(first), *larger["batch_per_rank"].astype(int)}))
    axes.set_xlabel("Batch per rank")
    axes.set_ylabel(f"Efficiency on {int(larger['world_size'].max())} ranks")


def _draw_forecast(axes: Axes, before: pd.Series, point: pd.Series, x: str, column: str, *, index: int) -> None:
    """A hollow point with its limits, and a thin line from the point before it."""
    style = series_style(index)
    ends = [before[x], point[x]], [before[column], point[column]]
    axes.plot(*ends, color=style["color"], linewidth=0.6, linestyle=":", zorder=1.5)
    limits = [[point[column] - point[f"{column}_low"]], [point[f"{column}_high"] - point[column]]]
    drawn = axes.errorbar(
        [point[x]],
        [point[column]],
        yerr=np.nan_to_num(limits),
        color=style["color"],
        marker=style["marker"],
        markerfacecolor="white",
        linestyle="none",
        capsize=2.5,
        elinewidth=0.6,
        label=FORECAST,
    )
    # All forecasts share an entry of the legend; whoever reads the points off the figure is told whose they are.
    drawn.series = f"{point['variant']}, {point['scaling']} scaling, forecast"
