"""Forecasts beside what was measured there: each scale as the smaller ones alone would have had it."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalestudy.publish import labels
from scalestudy.publish.figures.frames import Frames
from scalestudy.publish.figures.points import draw_beside
from scalestudy.publish.figures.style import HEIGHT_IN, REFERENCE, legend_below, rank_axis, series_style
from scalestudy.publish.papers import paper_of
from scalestudy.publish.templates import wrap
from scalestudy.study.plan import Plan

REASONS_SHOWN = 3
WIDTH = 100  # of a line of reasons, in characters


def draw(plan: Plan, workload: str, frames: Frames) -> Figure:
    """Left: forecast against measured speedup, with the line where they agree. Right: their ratio over ranks.

    Series stand side by side. Bars are the limits of the forecast, and lying ones those of the measurement. A
    scale that could not be forecast has no point; where there is none at all, the reasons stand in its place.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(paper_of(plan).page_in, HEIGHT_IN))
    mine = frames.held_out[frames.held_out["workload"] == workload]
    made = mine[mine["speedup"].notna()]
    if not len(made):
        return _reasons(figure, (left, right), mine)
    series = list(made.groupby(["variant", "scaling"], sort=False))
    for index, ((variant, scaling), points) in enumerate(series):
        style = {"capsize": 2.0, "elinewidth": 0.7, **series_style(index), "linestyle": "none"}
        label = f"{variant}, {scaling} scaling"
        left.errorbar(
            points["measured_speedup"],
            points["speedup"],
            yerr=_bars(points, "speedup"),
            xerr=_bars(points, "measured_speedup"),
            label=label,
            **style,
        )
        ratio = points[["speedup", "speedup_low", "speedup_high"]].div(points["measured_speedup"], axis=0)
        draw_beside(
            right,
            points["world_size"],
            ratio["speedup"],
            _bars(ratio, "speedup"),
            index=index,
            count=len(series),
            label=label,
            **style,
        )
    ends = np.array([*left.get_xlim(), *left.get_ylim()])
    left.plot([ends.min(), ends.max()], [ends.min(), ends.max()], label="forecast = measured", **REFERENCE)
    right.axhline(1, **REFERENCE)
    left.set_xlabel("Measured speedup")
    left.set_ylabel("Forecast speedup")
    rank_axis(right, sorted(made["world_size"].unique()))
    right.set_ylabel("Forecast / measured")
    right.autoscale_view()
    right.set_ylim(0, max(1.05 * right.get_ylim()[1], 1.5))
    legend_below(figure, left)
    return figure


def _bars(points: pd.DataFrame, name: str) -> np.ndarray:
    """Lengths below and above; none where there are no limits."""
    below = (points[name] - points[f"{name}_low"]).fillna(0)
    above = (points[f"{name}_high"] - points[name]).fillna(0)
    return np.vstack([below.clip(lower=0), above.clip(lower=0)])


def _reasons(figure: Figure, panels: tuple[Axes, Axes], mine: pd.DataFrame) -> Figure:
    """No point, but why."""
    said = ["No measured scale could be forecast from smaller ones."]
    for row in mine.head(REASONS_SHOWN).to_dict("records"):
        where = labels.ranks(int(row["world_size"]), int(row["nodes"]))
        said.append(wrap(f"{row['variant']} {row['scaling']}, {where}: {row['refused']}.", width=WIDTH))
    if len(mine) > REASONS_SHOWN:
        said.append(f"{len(mine) - REASONS_SHOWN} more.")
    for axes in panels:
        axes.remove()
    figure.set_figheight(0.25 + 0.16 * "\n".join(said).count("\n") + 0.3)
    figure.text(0.5, 0.5, "\n".join(said), ha="center", va="center", fontsize=7)
    return figure
