"""Several panels of the same kind, one for each group of the frame, where one panel would be too full."""

import textwrap

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalestudy.publish.figures.style import HEIGHT_IN

MOST_TOGETHER = 7
"""Most series that a reader can distinguish in one panel."""
PANEL_IN, LINE_IN, AXIS_IN = 1.05, 0.12, 0.4
"""Heights: of one of several panels with the gap above it, of a line of its name, and of the common axis below."""
SIDE_IN, CHARACTER_IN = 0.65, 0.056
"""Widths: of the axis beside the panels with the gaps, and of a 7 pt letter."""
LINE_END = "; "
"""Separator between the lines of a panel's name."""


def panel_grid(
    frame: pd.DataFrame, *, width_in: float, each: int = 1, across: int = 2
) -> tuple[Figure, list[Axes]]:
    """The figure and the axes of a frame's panels, in order, with axis names only at the edges of the figure.

    each: panels per group, side by side. across: groups side by side. Panels at the same position of their groups
    share the horizontal limits, and all panels share the vertical axis. A single group has the usual height.
    """
    panels = frame.drop_duplicates("panel").to_dict("records")
    groups = [panel["group"] for panel in panels[::each]]
    across = min(across, len(groups))
    rows = -(-len(groups) // across)
    characters = int((width_in - SIDE_IN) / across / CHARACTER_IN)
    titles = ["\n".join(textwrap.fill(line, characters) for line in group.split(LINE_END)) for group in groups]
    height_in = AXIS_IN + rows * (PANEL_IN + LINE_IN * max(title.count("\n") + 1 for title in titles))
    if len(groups) % across:
        height_in += AXIS_IN  # for a panel without a panel below it
    if len(groups) == 1:
        height_in = HEIGHT_IN
    figure, grid = plt.subplots(rows, across * each, figsize=(width_in, height_in), sharey=True, squeeze=False)
    made = list(grid.flat)
    for spare in made[len(panels) :]:
        spare.remove()
    for index, (axes, panel) in enumerate(zip(made, panels, strict=False)):
        group, place = divmod(index, each)
        if not place:
            axes.set_title(titles[group], fontsize=7, loc="left", pad=3)
        if group:
            axes.sharex(made[place])
        lowest = group + across >= len(groups)
        axes.tick_params(labelbottom=lowest)
        axes.set_xlabel(panel["x_name"] if lowest else "")
        axes.set_ylabel(panel["y_name"] if axes.get_subplotspec().is_first_col() else "")
    return figure, made[: len(panels)]
