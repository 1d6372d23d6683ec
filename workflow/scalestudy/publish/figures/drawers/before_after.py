"""Tried advice: each quantity before, as predicted and after; one row of panels per piece of advice."""

import textwrap
from collections.abc import Iterator
from math import isnan
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scalestudy.publish.figures.style import series_style
from scalestudy.publish.figures.tidy import FORECAST, MEASURED, Drawer, Frames, shown, tidy
from scalestudy.publish.numbers.rounding import printed_of, show, values_of
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words.verified import VERDICTS, quantity, where
from scalestudy.registry.codes import Tried
from scalestudy.registry.column import Column, Row
from scalestudy.registry.verified import SIDES, TRIED
from scalestudy.study.plan import Plan
from scalestudy.verify.model import Place

PANEL_IN, LINE_IN, EMPTY_IN = 1.35, 0.13, 0.6
"""Heights: of a row of panels, of a line of its name, and of a figure without tried advice."""
CHARACTER_IN = 0.056
"""Width of a 7 pt letter."""
NOTHING_TRIED = "No advice was tried."


def _before_after(plan: Plan, frames: Frames) -> pd.DataFrame:
    """The tidy frame: a row per piece of advice, quantity and side, and a panel per measured quantity."""
    rows: list[dict[str, Any]] = []
    for tried in frames.verified.to_dict("records"):
        place = Place(**{name: tried[name] for name in Place.model_fields})
        if place.workload not in plan.study.workloads:
            continue  # the study no longer has this workload
        target = plan.study.workloads[place.workload].target_accuracy
        group = f"{where(place)}: {tried['change']} {VERDICTS[Tried(tried['verdict'])].capitalize()}."
        for column in TRIED:
            mine = list(_sides(tried, column))
            if any(row["kind"] == MEASURED and not isnan(row["y"]) for row in mine):
                panel = rows[-1]["panel"] + 1 if rows else 1
                name = _axis(printed_of(column).name, target)
                rows += [row | {"panel": panel, "y_name": name, "group": group} for row in mine]
    return tidy([pd.DataFrame(rows)] if rows else [])


def _sides(tried: Row, column: Column) -> Iterator[dict[str, Any]]:
    """Rows of a quantity before, as predicted and after, without their panel. tried: a row of verification.csv."""
    for style, side in enumerate(SIDES):
        of_side = Column(f"{column.name}_{side}", "", limits=column.limits, printed=column.printed)
        value, low, high = values_of(tried, of_side)
        missing = isnan(value) and side != "predicted"
        yield {
            "x_name": "side",
            "x": side,
            "y": value,
            "y_low": low,
            "y_high": high,
            "series": side,
            "legend": side,
            "style": style,
            "kind": FORECAST if side == "predicted" else MEASURED,
            "outcome": tried[f"ends_{side}"] if missing else "",
        }


def _axis(name: str, target: float | None) -> str:
    """'Epoch time (s)' for the printed name of a quantity."""
    said, unit = quantity(name, target)
    return f"{said[:1].upper()}{said[1:]}" + (f" ({unit})" if unit else "")


ACCURACY = _axis("accuracy_percent", None)
"""Name of the axis that does not begin at 0, because differences of accuracy are small."""


def _draw(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw a row of panels per piece of advice, with its name above. All axes except accuracy begin at 0."""
    width_in = paper_of(plan).page_in
    if shown(frame).empty:
        figure = plt.figure(figsize=(width_in, EMPTY_IN))
        figure.text(0.5, 0.5, NOTHING_TRIED, ha="center", va="center", fontsize=7)
        return figure
    groups = [mine for _, mine in frame.groupby("group", sort=False)]
    across = max(mine["panel"].nunique() for mine in groups)
    titles = [textwrap.fill(str(mine["group"].iloc[0]), int(width_in / CHARACTER_IN)) for mine in groups]
    heights_in = [PANEL_IN + LINE_IN * (title.count("\n") + 2) for title in titles]
    figure = plt.figure(figsize=(width_in, sum(heights_in)))
    parts = figure.subfigures(len(groups), 1, squeeze=False, height_ratios=heights_in)[:, 0]
    for part, title, mine in zip(parts, titles, groups, strict=True):
        part.suptitle(title, fontsize=7, x=0.01, ha="left")
        grid = part.subplots(1, across, squeeze=False)[0]
        panels = [panel for _, panel in mine.groupby("panel", sort=False)]
        for spare in grid[len(panels) :]:
            spare.set_visible(False)
        for axes, panel in zip(grid, panels, strict=False):
            _draw_panel(axes, panel)
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw one quantity of one piece of advice."""
    sides = list(SIDES)
    for row in rows.to_dict("records"):
        at, look = sides.index(row["x"]), series_style(int(row["style"])) | {"linestyle": "none"}
        if row["outcome"]:
            where_: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center", "fontsize": 7}
            axes.annotate(row["outcome"], (at, 0.04), **where_)
        if row["kind"] == FORECAST:
            look["markerfacecolor"] = "white"
        limits = None if isnan(row["y_low"]) else [[row["y"] - row["y_low"]], [row["y_high"] - row["y"]]]
        axes.errorbar([at], [row["y"]], yerr=limits, capsize=2.5, elinewidth=0.8, **look)
    name = rows["y_name"].iloc[0]
    axes.set_title(name, fontsize=7)
    axes.set_xticks(range(len(sides)), sides, fontsize=7, rotation=35, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", pad=1)
    axes.set_xlim(-0.6, len(sides) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    if name != ACCURACY:
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])


def _words(frame: pd.DataFrame) -> str:
    """A description of the figure: for each piece of advice, every quantity before, as predicted and after."""
    said = []
    for group, mine in shown(frame).groupby("group", sort=False):
        panels = [
            f"{rows['y_name'].iloc[0]}: "
            + ", ".join(f"{side} {show(value).value}" for side, value in zip(rows["x"], rows["y"], strict=True))
            for _, rows in mine.groupby("panel", sort=False)
        ]
        said.append(f"{group} {'; '.join(panels)}.")
    return " ".join(said) or NOTHING_TRIED


before_after = Drawer(_before_after, _draw, _words)
