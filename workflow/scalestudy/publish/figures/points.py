"""Points with interval bars (measured, forecast or missing): their rows in a tidy frame, and drawing them."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from scalestudy.publish.figures.style import HEIGHT_IN, counts_of, doubling_axis, series_style
from scalestudy.publish.figures.tidy import FORECAST, shown

APART_PT, WIDEST_PT = 3.0, 30.0
"""Distance between series that are drawn side by side, and largest distance from the first to the last."""
BESIDE_IN = 0.6
"""Width of the labels and the name of a vertical axis."""
THIN: dict[str, Any] = {"capsize": 2.0, "elinewidth": 0.7}
"""Style of the bars in figures with many points."""


def usual_look(row: pd.Series, **more: Any) -> dict[str, Any]:
    """The style of a series with bars, by the style index in its first row."""
    return series_style(int(row["style"])) | {"capsize": 2.5, "elinewidth": 0.8} | more


class Panel(NamedTuple):
    """A panel: its number, from 1, the names of its axes, and the style of its points.

    doubling: x doubles from tick to tick, as ranks do; panels with the same x_name have the same ticks. bars: the
    axes with interval bars. beside: column whose values are drawn side by side at one x. chained: the thin line to
    a forecast starts at the previous forecast instead of the last measured point.
    """

    number: int
    x_name: str
    y_name: str
    look: Callable[[pd.Series], dict[str, Any]] = usual_look
    doubling: bool = True
    bars: str = "y"
    beside: str = ""
    chained: bool = False


def point_rows(
    panel: Panel, points: pd.DataFrame, x: str, y: str, why: Callable[[Any], Any] = lambda _: "", **given: Any
) -> pd.DataFrame:
    """Rows of a tidy frame: column y of the points against column x, with limits.

    why: gives the outcome of a missing point. given: other columns of the tidy frame, at least `series` and
    `style`. The legend has the full name of the series unless `legend` is given.
    """
    rows = {"panel": panel.number, "x_name": panel.x_name, "y_name": panel.y_name, "legend": given["series"]}
    columns: dict[str, Any] = {"x": points[x], "y": points[y]}
    columns |= {f"y{end}": points.get(f"{y}{end}") for end in ("_low", "_high")}
    columns["outcome"] = ""
    made = pd.DataFrame(columns)
    missing = points[y].isna()
    if missing.any():
        made["outcome"] = made["outcome"].astype(object)
        made.loc[missing, "outcome"] = [why(point) for point in points[missing].to_dict("records")]
    return made.assign(**rows | given)


def distributed_series(mine: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """('ddp, strong scaling', its points with the baseline first) for each variant and kind of scaling.

    mine: rows of one workload.
    """
    found = []
    distributed = mine[~mine["is_base"]]
    for (variant, scaling), points in distributed.groupby(["variant", "scaling"], sort=False):
        named = mine["variant"] == points["base_variant"].iloc[0]
        base = mine[mine["is_base"] & (mine["scaling"] == scaling) & named]
        # If the wrapped model was measured on one rank, the series starts with it.
        begins = (points["world_size"] == 1).any()
        together = points if begins else pd.concat([base, points])
        name = f"{variant}, {scaling} scaling"
        if not points["world_size"].duplicated().any():
            found.append((name, together.sort_values("world_size")))
            continue
        # The same number of ranks on one node and on two: two lines, not one line with a step.
        for nodes, part in points.groupby("nodes", sort=True):
            where = "one node" if nodes == 1 else f"{nodes} nodes"
            # One point on several nodes and the baseline, with nothing measured between them: no line.
            line = pd.concat([base, part]) if len(part) > 1 or nodes == 1 else part
            found.append((f"{name}, {where}", line.sort_values("world_size")))
    return found


def draw_panels(frame: pd.DataFrame, *panels: Panel, width_in: float) -> tuple[Figure, list[Axes]]:
    """The panels of a tidy frame side by side, with their axes named."""
    figure, grid = plt.subplots(1, len(panels), figsize=(width_in, HEIGHT_IN), squeeze=False)
    panel_in = width_in / len(panels) - BESIDE_IN
    for axes, panel in zip(grid[0], panels, strict=True):
        axes.set(xlabel=panel.x_name, ylabel=panel.y_name)
        draw_points(axes, frame[frame["panel"] == panel.number], panel)
        if panel.doubling:
            doubling_axis(axes, counts_of(frame[frame["x_name"] == panel.x_name]["x"]), panel_in)
    return figure, list(grid[0])


def draw_points(axes: Axes, rows: pd.DataFrame, panel: Panel) -> None:
    """Draw the rows of a panel by series: joined points with bars, and hollow points for forecasts.

    A missing point is marked with its outcome; missing points at the same x share a mark. base: an optional column
    of the rows, the series of the baseline at which the line of a series begins.
    """
    bases = rows["base"] if "base" in rows else pd.Series("", index=rows.index)
    places = list(dict.fromkeys(rows[panel.beside])) if panel.beside else []
    for (_, style, kind), mine in rows.groupby(["series", "style", "kind"], sort=False):
        look, good = panel.look(mine.iloc[0]), shown(mine)
        if kind == FORECAST:
            same = shown(rows[(rows["style"] == style) | (rows["series"] == bases[mine.index[0]])])
            _draw_forecasts(axes, mine, same if panel.chained else same[same["kind"] != FORECAST], look)
            continue
        begin = shown(rows[rows["series"] == bases[mine.index[0]]])
        if len(begin) and len(good):
            ends = pd.concat([begin, good]).iloc[:2]
            line = {name: look[name] for name in ("color", "linestyle")}
            axes.plot(ends["x"], ends["y"], zorder=1.9, **line)
        look |= {f"{axis}err": _lengths(good, axis) for axis in panel.bars}
        if panel.beside:
            place = places.index(mine[panel.beside].iloc[0]) - (len(places) - 1) / 2
            shift_in = place * min(APART_PT, WIDEST_PT / len(places)) / 72
            look["transform"] = axes.transData + ScaledTranslation(shift_in, 0, axes.figure.dpi_scale_trans)
            # Shifted points do not extend the limits by themselves.
            for length, sign in zip(look["yerr"], (-1, 1), strict=True):
                axes.update_datalim(np.column_stack([good["x"], good["y"] + sign * length]))
        axes.errorbar(good["x"], good["y"], label=mine["legend"].iloc[0] or "_", **look)
    above: dict[str, Any] = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center", "fontsize": 7}
    for at, words in rows[rows["outcome"] != ""].groupby("x")["outcome"]:
        x, edge = cast("float", at), axes.get_xaxis_transform()  # y in parts of the axis, which can be logarithmic
        cross: dict[str, Any] = {"marker": "x", "color": "black", "linestyle": "none", "clip_on": False}
        axes.plot([x], [0], transform=edge, zorder=5, **cross)
        axes.annotate("\n".join(dict.fromkeys(words)), (x, 0), xycoords=edge, annotation_clip=False, **above)


def _lengths(points: pd.DataFrame, axis: str) -> np.ndarray:
    """Lengths of the bars below and above, of shape (2, points); 0 without an interval."""
    lengths = np.vstack([points[axis] - points[f"{axis}_low"], points[f"{axis}_high"] - points[axis]])
    return np.nan_to_num(lengths).clip(min=0)


def _draw_forecasts(axes: Axes, points: pd.DataFrame, before: pd.DataFrame, look: dict[str, Any]) -> None:
    """Draw hollow points with limits, each with a thin line from the last point of `before` with a smaller x."""
    for point in points.to_dict("records"):
        begin = before[before["x"] < point["x"]].iloc[-1]
        ends = [begin["x"], point["x"]], [begin["y"], point["y"]]
        axes.plot(*ends, color=look["color"], linewidth=0.6, linestyle=":", zorder=1.5)
    look |= {"linestyle": "none", "markerfacecolor": "white", "elinewidth": 0.6}
    limits, label = _lengths(points, "y"), points["legend"].iloc[0]
    axes.errorbar(points["x"], points["y"], yerr=limits, label=label, **look)
