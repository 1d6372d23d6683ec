"""Points over ranks with interval bars: what the speedup and the throughput figure share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from scalestudy.publish.figures.style import mark_missing, series_style


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
            found.append((f"{name}, {where}", pd.concat([base, part]).sort_values("world_size")))
    return found


def draw_series(axes: Axes, points: pd.DataFrame, column: str, *, label: str, index: int) -> None:
    """Points with interval bars, joined over ranks; a point without a value is marked with its outcomes."""
    good = points[points[column].notna()]
    limits = np.vstack(
        [(good[column] - good[f"{column}_low"]).fillna(0), (good[f"{column}_high"] - good[column]).fillna(0)]
    )
    style = {"capsize": 2.5, "elinewidth": 0.8, **series_style(index)}
    axes.errorbar(good["world_size"], good[column], yerr=limits, label=label, **style)
    for _, point in points[points[column].isna()].iterrows():
        mark_missing(axes, point["world_size"], point["outcomes"])
