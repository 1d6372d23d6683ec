"""The style of all figures: widths of a paper's columns, 8 pt text, series that differ also without colour."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, PercentFormatter

from scalestudy.publish.figures.font import families

HEIGHT_IN = 2.3
"""Height of a figure without its legend. Its width is one column or the page of the paper (papers.py)."""
LEGEND_LINE_IN = 0.155
MOST_COLUMNS = 5  # of a legend
WIDEST_LEGEND = 0.97  # share of the figure's width: text is slightly wider at other resolutions

# Okabe and Ito's colours in seaborn's order; the first four also differ in lightness.
PALETTE = sns.color_palette("colorblind")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
LINES = ("-", "--", "-.", ":")

REFERENCE: dict[str, Any] = {"color": "0.45", "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}

FONTS = ("Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans", "sans-serif")
"""The first installed font is used for all text."""

BASE_STYLE = -1
"""Index of the style of the baseline, where all series share one point of it."""
ROOM = 2**0.35
"""Ratio of the limits of a logarithmic axis to the outermost points."""
MOST_CUT = 4
"""Largest ratio of a point and the end of its bar on a logarithmic axis: a longer bar runs out of the panel."""
DIGIT_IN, LABEL_IN, APART_IN = 0.063, 0.1, 0.06
"""Width of a 7 pt digit, height of a label, and gap between two labels."""
WIDE = 10  # ratio of the limits; a narrower axis would have only one or two ticks at 1, 2 and 5


@contextmanager
def paper_style() -> Iterator[None]:
    """matplotlib's settings for a figure in a paper. Text in a PDF can be searched, since fonts are TrueType."""
    settings: dict[str, Any] = {
        "font.family": families(FONTS),
        "font.sans-serif": FONTS,
        **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 8),
        **dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 7),
        "axes.linewidth": 0.6,
        "grid.linewidth": 0.4,
        "grid.color": "0.9",
        "lines.linewidth": 1.1,
        "lines.markersize": 4,
        "pdf.fonttype": 42,
        "svg.fonttype": "path",
        "svg.hashsalt": "scalestudy",
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
    with mpl.rc_context(), sns.axes_style("whitegrid"):
        mpl.rcParams.update(settings)  # type: ignore[arg-type]  # the keys are a Literal of all names
        yield


def series_style(index: int) -> dict[str, Any]:
    """Colour, marker and line of the series with this index, or of the baseline (BASE_STYLE).

    The first 12 series have distinct markers, and the first 48 have distinct pairs of marker and line.
    """
    if index == BASE_STYLE:
        return {"color": "black", "marker": "o", "linestyle": "none"}
    return {
        "color": PALETTE[index % len(PALETTE)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[(index + index // len(MARKERS)) % len(LINES)],
    }


def counts_of(numbers: Iterable[float]) -> list[int]:
    """The numbers as distinct integers in ascending order; [1] for no numbers."""
    return sorted({*map(int, numbers)}) or [1]


def doubling_axis(axes: Axes, counts: Sequence[int], width_in: float) -> None:
    """Make the x axis a log2 axis with ticks at these counts only. counts: in ascending order.

    A label that would touch another is left out, but not the first and the last. width_in: of the panel.
    """
    axes.set_xscale("log", base=2)
    limits = counts[0] / ROOM, counts[-1] * ROOM
    labels = list(map(str, counts))
    sizes_in = [DIGIT_IN * len(label) for label in labels]
    axes.set_xticks(counts, _thinned(labels, sizes_in, _places(counts, limits, width_in)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(*limits)


def ratio_axis(axes: Axes, counts: Sequence[int], limits: tuple[float, float], height_in: float) -> None:
    """Make the y axis a log2 axis of ratios that are at most about as large as the counts, as speedup is.

    Ticks are at the counts, so that the ideal passes through them, and at factors of 2 where counts leave a gap
    or the limits reach below them. A label that would touch another is left out. height_in: of the panel.
    """
    axes.set_yscale("log", base=2)
    ticks = {float(count) for count in counts}
    gaps = [(limits[0], counts[0]), *((one, other) for one, other in pairwise(counts) if other > MOST_CUT * one)]
    for low, high in gaps:
        exponents = np.arange(np.ceil(np.log2(low)), np.ceil(np.log2(high)))
        ticks |= {float(tick) for tick in 2.0**exponents if tick > low}
    shown = sorted(tick for tick in ticks if limits[0] <= tick <= limits[1])
    labels = _thinned(list(map(plain, shown)), [LABEL_IN] * len(shown), _places(shown, limits, height_in))
    axes.set_yticks(shown, labels)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylim(*limits)


def percent_axis(axes: Axes) -> None:
    """Show shares on the vertical axis in per cent, in the form of the texts: `75 %`."""
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol="\N{NO-BREAK SPACE}%"))


def ratio_limits(points: pd.DataFrame, *more: float) -> tuple[float, float]:
    """Limits of a logarithmic axis that shows the points of a tidy frame, their bars, and `more` values.

    The end of a bar can be far away or negative. It is then cut off, so that the points stay apart.
    """
    y = points["y"]
    low = points["y_low"].fillna(y).clip(lower=y / MOST_CUT)
    high = points["y_high"].fillna(y).clip(upper=y * MOST_CUT)
    return min([*low, *more]) / ROOM, max([*high, *more]) * ROOM


def _places(ticks: Sequence[float], limits: tuple[float, float], length_in: float) -> list[float]:
    """Distances of ticks from the lower end of a logarithmic axis, in inches."""
    whole = np.log(limits[1] / limits[0])
    return [float(length_in * np.log(tick / limits[0]) / whole) for tick in ticks]


def _thinned(labels: Sequence[str], sizes_in: Sequence[float], places_in: Sequence[float]) -> list[str]:
    """The labels; empty where one would touch the previous one or the last. places_in: of their centres."""

    def apart(one: int, other: int) -> bool:
        return places_in[other] - places_in[one] >= (sizes_in[one] + sizes_in[other]) / 2 + APART_IN

    last, kept = len(labels) - 1, [0]
    for index in range(1, last):
        if apart(kept[-1], index) and apart(index, last):
            kept.append(index)
    return [label if index in (*kept, last) else "" for index, label in enumerate(labels)]


def plain(number: float) -> str:
    """'0.125', '20000': no exponent."""
    return np.format_float_positional(float(f"{number:.6g}"), trim="-")


def log_ticks(axis: Axis) -> None:
    """Set plain numbers as ticks of a logarithmic axis: at 1, 2 and 5, or evenly spaced on a short axis."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)) if high > WIDE * low else MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_locator(NullLocator())


def legend_below(figure: Figure, *panels: Axes, last: str = "", order: Sequence[str] = ()) -> None:
    """Add one legend for all panels below them, where it hides no data. The figure grows by its lines.

    The legend has as few lines as fit, of about equal length. last: the last entry. order: the first entries.
    """
    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    entries = {name: found[name] for name in (*order, *found) if name in found}
    if last in entries:
        entries[last] = entries.pop(last)
    for lines in range(max(1, -(-len(entries) // MOST_COLUMNS)), len(entries) + 1):
        columns = -(-len(entries) // lines)
        legend = figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= WIDEST_LEGEND * figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + LEGEND_LINE_IN * -(-len(entries) // columns))
            return
        legend.remove()
