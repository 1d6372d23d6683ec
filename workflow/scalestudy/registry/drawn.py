"""The columns of the CSV beside a figure: the tidy frame that it is drawn from."""

from scalestudy.registry.column import Column

TIDY: tuple[Column, ...] = (
    Column("panel", "number of the panel, from 1"),
    Column("x_name", "what x is, with its unit"),
    Column("y_name", "what y is, with its unit"),
    Column("series", "whole name of the series"),
    Column("x", "place of the point: a number, or the name of a bar"),
    Column("y", "value of the point; none for a missing one"),
    Column("y_low", "lower limit of y"),
    Column("y_high", "upper limit of y"),
    Column("x_low", "lower limit of x, where that is measured too"),
    Column("x_high", "upper limit of x"),
    Column("kind", "measured, forecast, or refused for a forecast that could not be made"),
    Column("outcome", "why a point is missing, where that is known"),
    Column("run", "launch that the point is from, where it is from one"),
    Column("style", "index of the series' colour, line and marker"),
    Column("legend", "name of the series in the legend"),
    Column("group", "name of the panel, or heading of the rows"),
)
"""Of every figure."""
RANKS = Column("ranks", "number of ranks of the point")
IDEAL = Column("ideal", "ideal scaling from the base case, in the unit of y")
TICK = Column("tick", "what is written beside the bars of a point")
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
