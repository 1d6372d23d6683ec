"""Several studies of one workload: throughput of each against ranks, and the ratio to the first study's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalestudy.analyse.study.compare import Comparison
from scalestudy.publish.comparison.named import Named, in_a_figure
from scalestudy.publish.figures.points import distributed_series, draw_beside
from scalestudy.publish.figures.style import (
    HEIGHT_IN,
    LINES,
    MARKERS,
    PALETTE,
    REFERENCE,
    legend_below,
    mark_missing,
    rank_axis,
)
from scalestudy.publish.papers import paper_of
from scalestudy.publish.results import failure_word

ONE_PROCESS_MARKER = "d"  # none of MARKERS

Series = tuple[Named, str, pd.DataFrame, dict]
"""A study, the name of a variant's points, the points, and how they are drawn."""


def draw(comparison: Comparison, workload: str, named: Sequence[Named]) -> Figure:
    """Left: samples a second of every point that a study has. Right: ratios to the first study, with a line at 1.

    Colour and line tell studies apart, markers tell variants. Points without a good launch are marked on the left,
    with the study's letter and the word that says why.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(paper_of(named[0].source.plan).page_in, HEIGHT_IN))
    mine = comparison.points[comparison.points["workload"] == workload]
    mine = mine[~mine["is_reference"]]
    series = list(_series(mine, named))
    for one, name, points, style in series:
        _draw(left, points, "throughput_samples_per_s", one, name, style, index=named.index(one), count=len(named))
    ratios = list(_ratios(series, mine, named))
    for index, (one, name, points, style) in enumerate(ratios):
        _draw(right, points, "throughput_ratio", one, name, style, index=index, count=len(ratios))
    _mark_failures(left, mine)
    counts = sorted({int(count) for count in mine["world_size"]})
    for axes in (left, right):
        rank_axis(axes, counts)
    left.set_ylabel("Throughput (samples/s)")
    left.set_ylim(bottom=0)
    right.set_ylabel(f"Throughput over that of {named[0].letter}")
    right.axhline(1, label=f"as fast as {named[0].letter}", **REFERENCE)
    legend_below(figure, left, right, last=f"as fast as {named[0].letter}")
    return figure


def _ratios(series: Sequence[Series], mine: pd.DataFrame, named: Sequence[Named]) -> Iterator[Series]:
    """Of all studies but the first. One process is a series of its own: it has one ratio, however it is scaled."""
    for index, one in enumerate(named[1:], start=1):
        base = mine[(mine["study"] == one.letter) & mine["is_base"]]
        for variant, points in base.groupby("variant", sort=False):
            yield one, str(variant), points, _style(index, ONE_PROCESS_MARKER) | {"linestyle": "none"}
        for other, name, points, style in series:
            if other is one and not points["is_base"].all():
                yield one, name, points[~points["is_base"]], style


def _series(mine: pd.DataFrame, named: Sequence[Named]) -> Iterator[Series]:
    """Study by study; the base case begins every series of its study, however it is scaled."""
    markers: dict[str, str] = {}
    for index, one in enumerate(named):
        rows = mine[mine["study"] == one.letter]
        base, rest = rows[rows["is_base"]], rows[~rows["is_base"]]
        scalings = rest["scaling"].unique()
        frame = pd.concat([*(base.assign(scaling=scaling) for scaling in scalings), rest])
        found = distributed_series(frame) if len(rest) else []
        for name, points in found or [(variant, group) for variant, group in base.groupby("variant", sort=False)]:
            style = _style(index, markers.setdefault(name, MARKERS[len(markers) % len(MARKERS)]))
            yield one, name, points, style


def _style(index: int, marker: str) -> dict:
    """Of a series of the index-th study."""
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": LINES[index % len(LINES)], "marker": marker}


def _draw(
    axes: Axes, points: pd.DataFrame, column: str, one: Named, name: str, style: dict, *, index: int, count: int
) -> None:
    """Points with interval bars, joined over ranks; those without a value are left out."""
    good = points[points[column].notna()]
    if not len(good):
        return
    limits = np.vstack([good[column] - good[f"{column}_low"], good[f"{column}_high"] - good[column]])
    drawn = draw_beside(
        axes,
        good["world_size"],
        good[column],
        limits,
        index=index,
        count=count,
        label=f"{one.letter} {in_a_figure(one.name)}: {name}",
        capsize=2.5,
        elinewidth=0.8,
        **style,
    )
    drawn.series = f"{one.letter} {one.name}: {name}"  # the legend may have cut it short


def _mark_failures(axes: Axes, mine: pd.DataFrame) -> None:
    """One mark where points are at the same ranks, with a line for each study."""
    words: dict[int, list[str]] = {}
    for _, row in mine.iterrows():
        if word := failure_word(row):
            words.setdefault(int(row["world_size"]), []).append(f"{row['study']}: {word}")
    for count, said in words.items():
        mark_missing(axes, count, "\n".join(dict.fromkeys(said)))
