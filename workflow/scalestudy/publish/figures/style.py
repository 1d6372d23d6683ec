"""The style of all figures: widths of a paper's columns, 8 pt text, series that differ also without colour."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from scalestudy.publish.figures.font import families

HEIGHT_IN = 2.3
"""Height of a figure without its legend. Its width is one column or the page of the paper (papers.py)."""
LEGEND_LINE_IN = 0.155
MOST_COLUMNS = 4  # of a legend
WIDEST_LEGEND = 0.97  # share of the figure's width: text is slightly wider at other resolutions

# Okabe and Ito's colours in seaborn's order; the first four also differ in lightness.
PALETTE = sns.color_palette("colorblind")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
LINES = ("-", "--", "-.", ":")

REFERENCE: dict[str, Any] = {"color": "0.45", "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}

FONTS = ("Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans", "sans-serif")
"""The first installed font is used for all text."""

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
    """Colour, marker and line of the series with this index.

    The first 12 series have distinct markers, and the first 48 have distinct pairs of marker and line.
    """
    return {
        "color": PALETTE[index % len(PALETTE)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[(index + index // len(MARKERS)) % len(LINES)],
    }


def counts_of(numbers: Iterable[float]) -> list[int]:
    """The numbers as distinct integers in ascending order; [1] for no numbers."""
    return sorted({*map(int, numbers)}) or [1]


def doubling_axis(axes: Axes, counts: Sequence[int]) -> None:
    """Make the x axis a log2 axis with ticks at these counts only. counts: in ascending order."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, list(map(str, counts)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(min(counts) / 2**0.35, max(counts) * 2**0.35)


def log_ticks(axis: Axis) -> None:
    """Set plain numbers as ticks of a logarithmic axis: at 1, 2 and 5, or evenly spaced on a short axis."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)) if high > WIDE * low else MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def legend_below(figure: Figure, *panels: Axes, last: str = "", order: Sequence[str] = ()) -> None:
    """Add one legend for all panels below them, where it hides no data. The figure grows by its lines.

    The legend has as many columns as fit, at most four. last: the last entry. order: the first entries.
    """
    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    entries = {name: found[name] for name in (*order, *found) if name in found}
    if last in entries:
        entries[last] = entries.pop(last)
    for columns in range(min(MOST_COLUMNS, len(entries)), 0, -1):
        legend = figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= WIDEST_LEGEND * figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + LEGEND_LINE_IN * -(-len(entries) // columns))
            return
        legend.remove()
