"""The columns of a figure's CSV: the tidy data that the figure shows."""

from scalestudy.registry.column import Column

TIDY: tuple[Column, ...] = (
    Column("panel", "number of the panel, from 1"),
    Column("x_name", "quantity of x, with its unit"),
    Column("y_name", "quantity of y, with its unit"),
    Column("series", "full name of the series", text=True),
    Column("x", "position of the point: a number, or the name of a bar"),
    Column("y", "value of the point; none for a missing one"),
    Column("y_low", "lower limit of y"),
    Column("y_high", "upper limit of y"),
    Column("x_low", "lower limit of x, if x is measured too"),
    Column("x_high", "upper limit of x"),
    Column("kind", "measured, forecast, or refused for a forecast that is not possible"),
    Column("outcome", "why a point is missing, if known"),
    Column("run", "run of the point, if it is from a single run"),
    Column("style", "index of the series' colour, line and marker; -1 for the baseline"),
    Column("legend", "name of the series in the legend", text=True),
    Column("group", "name of the panel, or heading of the rows", text=True),
)
"""Columns of every figure."""
RANKS = Column("ranks", "number of ranks of the point")
BASE = Column("base", "series of the baseline, at which the line of this series begins")
IDEAL = Column("ideal", "ideal scaling from the baseline, in the unit of y")
TICK = Column("tick", "label of the bars of a point")
FIT = (
    Column("all_reduce_latency_s", "latency of the all-reduce, fitted", "s"),
    Column("all_reduce_gib_per_s", "bandwidth of the all-reduce, fitted", "GiB/s"),
)
OVERTAKES = (
    Column("slower_at", "largest number of parameters at which DDP is shown to be faster"),
    Column("faster_at", "smallest number of parameters at which FSDP is shown to be faster"),
)
COMPARED = (
    Column("study", "letter of the study"),
    Column("marker", "marker of the variant"),
)
