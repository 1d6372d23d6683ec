"""Whether memory grows over steady steps: a leak shows as a slope long before it shows as out of memory."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd
from scipy import stats

from scalestudy.analyse.intervals import NOTHING, Interval

FEWEST = 8  # blocks; with fewer the slope's interval says nothing
SMALLEST_GROWTH = 0.01  # of what is held, over the steps seen; less is the allocator settling


def memory_growth(blocks: pd.DataFrame, column: str, *, confidence: float) -> tuple[Interval, bool]:
    """(slope in GiB per 1 000 steps with its interval, whether it grows) of a column of one rank's blocks.

    Theil and Sen's slope, the median over pairs of blocks, whose interval makes no assumption on the noise. It
    grows where even the lower limit adds up to SMALLEST_GROWTH of the mean over the steps seen: an allocator that
    takes a few pages now and then has a slope too. Source: Sen (1968), J. American Statistical Association 63.
    """
    known = blocks.dropna(subset=[column])
    if len(known) < FEWEST or known[column].nunique() == 1:
        return (NOTHING if len(known) < FEWEST else Interval(0.0, 0.0, 0.0)), False
    steps, sizes = known["first_step"].astype(float), known[column].astype(float)
    slope, _, low, high = stats.theilslopes(sizes, steps, alpha=confidence)
    seen = float(steps.max() - steps.min())
    grows = low * seen > SMALLEST_GROWTH * sizes.mean()
    return Interval(slope * 1e3, low * 1e3, high * 1e3), bool(grows)


def growth_of(blocks: pd.DataFrame, *, warmup_steps: float, confidence: float) -> dict[str, Any]:
    """Columns of runs.csv: the largest slope over ranks, of allocated memory on a GPU, else resident."""
    nothing = {"memory_growth_gib_per_1000_steps": nan, "memory_grows": ""}
    steady = blocks[(blocks["phase"] == "measured") & (blocks["first_step"] >= warmup_steps)]
    if steady.empty:
        return nothing
    column = "allocated_gib" if steady["allocated_gib"].notna().any() else "resident_gib"
    found = {
        rank: memory_growth(mine.sort_values("first_step"), column, confidence=confidence)
        for rank, mine in steady.groupby("rank")
    }
    rank, (slope, grows) = max(found.items(), key=lambda item: (item[1][1], item[1][0].value))
    text = (
        f"{column.removesuffix('_gib')} memory of rank {rank} grows by {slope.value:.2g} GiB"
        f" [{slope.low:.2g}, {slope.high:.2g}] in 1000 steps"
        if grows
        else ""
    )
    return {"memory_growth_gib_per_1000_steps": slope.value, "memory_grows": text}
