"""Back-test of the forecasts: each measured scale against its forecast from the smaller scales only."""

from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scalestudy.publish.figures.points import THIN, Panel, draw_panels, point_rows, usual_look
from scalestudy.publish.figures.style import REFERENCE, legend_below
from scalestudy.publish.figures.tidy import REFUSED, Drawer, Frames, describe, shown, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.publish.templates import wrap
from scalestudy.publish.words import labels
from scalestudy.registry.column import Row
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.plan import Plan

REASONS_SHOWN = 3
WIDTH = 100  # of a line of reasons, in characters


LOOK = partial(usual_look, **THIN, linestyle="none")
SPEEDUP = Panel(1, "Measured speedup", "Forecast speedup", look=LOOK, doubling=False, bars="xy")
RATIO = Panel(2, "Ranks", "Forecast / measured", look=LOOK, beside="series")


def _back_test(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """The tidy frame: forecast against measured speedup, their ratio by ranks, and reasons for refusals."""
    mine = frames.held_out[frames.held_out["workload"] == workload]
    measured = mine["measured_speedup"]
    mine = mine.assign(**{f"ratio{end}": mine[f"speedup{end}"] / measured for end in ("", "_low", "_high")})
    made, refused = mine[mine["speedup"].notna()], mine[mine["speedup"].isna()]
    parts = []
    for style, ((variant, scaling), points) in enumerate(made.groupby(["variant", "scaling"], sort=False)):
        given: dict[str, Any] = {"series": f"{variant}, {scaling} scaling", "style": style}
        limits: dict[str, Any] = {f"x{end}": points[f"measured_speedup{end}"] for end in ("_low", "_high")}
        parts.append(point_rows(SPEEDUP, points, "measured_speedup", "speedup", **limits, **given))
        parts.append(point_rows(RATIO, points, "world_size", "ratio", **given))
    series = refused["variant"] + ", " + refused["scaling"] + " scaling"
    return tidy([*parts, point_rows(RATIO, refused, "world_size", "ratio", _reason, series=series, kind=REFUSED)])


def _reason(row: Row) -> str:
    where = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return f"{row['variant']} {row['scaling']}, {where}: {no_forecast(row)}."


def _draw(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw forecast against measured speedup with the line of agreement (left) and their ratio by ranks (right).

    Vertical bars are the limits of the forecast, horizontal bars the interval of the measurement. If no scale
    could be forecast, the reasons replace the panels.
    """
    made, width_in = shown(frame), paper_of(plan).page_in
    if made.empty:
        text = "\n".join(wrap(reason, width=WIDTH) for reason in _reasons(frame))
        figure = plt.figure(figsize=(width_in, 0.55 + 0.16 * text.count("\n")))
        figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=7)
        return figure
    figure, (left, right) = draw_panels(made, SPEEDUP, RATIO, width_in=width_in)
    ends = np.array([*left.get_xlim(), *left.get_ylim()])
    left.plot([ends.min(), ends.max()], [ends.min(), ends.max()], label="forecast = measured", **REFERENCE)
    right.axhline(1, **REFERENCE)
    right.autoscale_view()
    right.set_ylim(0, max(1.05 * right.get_ylim()[1], 1.5))
    legend_below(figure, left)
    return figure


def _words(frame: pd.DataFrame) -> str:
    return " ".join(_reasons(frame)) if shown(frame).empty else describe(frame)


def _reasons(frame: pd.DataFrame) -> list[str]:
    """Why no scale could be forecast, in sentences."""
    said = list(frame["outcome"])
    more = [f"{len(said) - REASONS_SHOWN} more."] if len(said) > REASONS_SHOWN else []
    return ["No measured scale could be forecast from smaller ones.", *said[:REASONS_SHOWN], *more]


held_out = Drawer(_back_test, _draw, _words)
