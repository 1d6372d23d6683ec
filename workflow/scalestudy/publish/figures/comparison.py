"""Several studies of one workload: throughput of each against ranks, and the ratio to the first study's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from scalestudy.analyse.compare import Comparison
from scalestudy.publish.comparison.named import Named, in_a_figure
from scalestudy.publish.figures.points import distributed_series
from scalestudy.publish.figures.style import HEIGHT_IN, LINES, MARKERS, PALETTE, REFERENCE, mark_missing, rank_axis
from scalestudy.publish.papers import paper_of
from scalestudy.publish.results import failure_word

APART_PT = 3.0
"""Between bars that stand at the same ranks: of the picture only, the data are where they are."""

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
    right.axhline(1, label=f"as fast as {named[0].letter}", **REFERENCE)
    for index, (one, name, points, style) in enumerate(series):
        shift = (index - (len(series) - 1) / 2) * APART_PT
        _draw(left, points, "throughput_samples_per_s", f"{one.letter} {one.name}: {name}", style, 0)
        if one is not named[0]:
            _draw(right, points, "throughput_ratio", f"_{one.letter} {one.name}: {name}", style, shift)
    _mark_failures(left, mine)
    counts = sorted({int(count) for count in mine["world_size"]})
    for axes in (left, right):
        rank_axis(axes, counts)
    left.set_ylabel("Throughput (samples/s)")
    left.set_ylim(bottom=0)
    right.set_ylabel(f"Throughput over that of {named[0].letter}")
    handles, texts = left.get_legend_handles_labels()
    lines = right.get_legend_handles_labels()
    texts = [*texts, *lines[1]]
    columns = 2 if max(map(len, texts)) <= 60 else 1
    figure.legend([*handles, *lines[0]], texts, loc="outside lower center", ncols=columns)
    return figure


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
            style = {
                "color": PALETTE[index % len(PALETTE)],
                "linestyle": LINES[index % len(LINES)],
                "marker": markers.setdefault(name, MARKERS[len(markers) % len(MARKERS)]),
            }
            yield one, name, points, style


def _draw(axes: Axes, points: pd.DataFrame, column: str, label: str, style: dict, shift_pt: float) -> None:
    """Points with interval bars, joined over ranks; those without a value are left out."""
    good = points[points[column].notna()]
    if not len(good):
        return
    limits = np.vstack([good[column] - good[f"{column}_low"], good[f"{column}_high"] - good[column]])
    hidden = label.startswith("_")
    drawn = axes.errorbar(
        good["world_size"],
        good[column],
        yerr=np.nan_to_num(limits),
        label="_" if hidden else in_a_figure(label),
        capsize=2.5,
        elinewidth=0.8,
        transform=axes.transData + ScaledTranslation(shift_pt / 72, 0, axes.figure.dpi_scale_trans),
        **style,
    )
    drawn.series = label.removeprefix("_")  # whoever reads the points off the figure has the whole name


def _mark_failures(axes: Axes, mine: pd.DataFrame) -> None:
    """One mark where points are at the same ranks, with a line for each study."""
    words: dict[int, list[str]] = {}
    for _, row in mine.iterrows():
        if word := failure_word(row):
            words.setdefault(int(row["world_size"]), []).append(f"{row['study']}: {word}")
    for count, said in words.items():
        mark_missing(axes, count, "\n".join(dict.fromkeys(said)))
