"""Speedup and efficiency of the series of a published table, and their forecasts."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from scalestudy.publish.figures.drawers.scaling import AXIS_IN, HOLLOW
from scalestudy.publish.figures.points import Panel, draw_panels, point_rows
from scalestudy.publish.figures.style import (
    HEIGHT_IN,
    REFERENCE,
    counts_of,
    legend_below,
    percent_axis,
    ratio_axis,
    ratio_limits,
)
from scalestudy.publish.figures.tidy import FORECAST, shown, tidy
from scalestudy.publish.papers import PAPERS

LONGEST = 40
"""Characters of a series' name in the legend."""
PANELS = (Panel(1, "Devices", "Speedup"), Panel(2, "Devices", "Efficiency"))


def foretold(rows: pd.DataFrame) -> Figure:
    """Draw both panels: measured points joined, forecasts hollow with their limits, and the ideal.

    rows: from publish/forecast.py. Speedup is that over one device; a series that begins at n devices begins at n.
    """
    parts = []
    for style, (series, mine) in enumerate(rows.groupby("series", sort=False)):
        name = str(series) if len(str(series)) <= LONGEST else f"{str(series)[: LONGEST - 4]} ..."
        for panel, y in zip(PANELS, ("speedup", "efficiency"), strict=True):
            measured, more = mine[~mine["forecast"]], mine[mine["forecast"]]
            parts.append(point_rows(panel, measured, "gpus", y, series=series, style=style, legend=name))
            given: dict[str, Any] = {
                "series": f"{series}, forecast",
                "style": style,
                "legend": HOLLOW,
                "kind": FORECAST,
            }
            parts.append(point_rows(panel, more, "gpus", y, **given))
    frame = tidy(parts)
    figure, (left, right) = draw_panels(frame, *PANELS, width_in=PAPERS["ieee"].page_in)
    counts = counts_of(frame["x"])
    ends = [counts[0], counts[-1]]
    left.plot(ends, ends, label="ideal", **REFERENCE)
    limits = ratio_limits(shown(frame[frame["panel"] == 1]), *ends)
    ratio_axis(left, counts, limits, HEIGHT_IN - AXIS_IN)
    right.axhline(1, **REFERENCE)
    right.set_ylim(0, max(1.1, 1.02 * right.get_ylim()[1]))
    percent_axis(right)
    legend_below(figure, left, last=HOLLOW)
    return figure
