"""Whether memory grows over steady steps: a leak is visible as a slope long before memory is exhausted."""

from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.grid import Columns
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.analyse.statistics.slope import theil_sen
from scalestudy.record.tables import Table
from scalestudy.registry.codes import MemoryKind

FEWEST = 8  # blocks; with fewer the slope's interval is not informative
SMALLEST_GROWTH = (
    0.01  # relative to the mean memory, over the steps seen; smaller growth is the allocator settling
)
KINDS = {"allocated_gib": MemoryKind.ALLOCATED, "resident_gib": MemoryKind.RESIDENT}
GROWTH = "memory_growth_gib_per_1000_steps"
NO_GROWTH: dict[str, Any] = {
    **NOTHING.columns(GROWTH),
    "memory_growth_rank": nan,
    "memory_growth_kind": MemoryKind.NONE,
}
"""Columns of a run whose memory was not read, and of a point without growth in any run."""


def memory_growth(steps: np.ndarray, sizes_gib: np.ndarray, *, confidence: float) -> tuple[Interval, bool]:
    """Returns (slope in GiB per 1 000 steps with its interval, whether it grows) of one rank's memory at some
    steps.

    The Theil-Sen slope, the median over pairs of blocks; its interval makes no assumption about the noise. Memory
    grows if even the lower limit adds up to more than SMALLEST_GROWTH of the mean over the steps seen, because an
    allocator that takes a few pages now and then has a slope too.
    """
    known = ~np.isnan(sizes_gib)
    steps, sizes_gib = steps[known], sizes_gib[known]
    if len(steps) < FEWEST:
        return NOTHING, False
    if (sizes_gib == sizes_gib[0]).all():
        return Interval(0.0, 0.0, 0.0), False
    slope = theil_sen(steps.astype(float), sizes_gib, confidence=confidence)
    seen = float(steps.max() - steps.min())
    grows = slope.low * seen > SMALLEST_GROWTH * sizes_gib.mean()
    return slope.scaled(1e3), bool(grows)


def growth_of(blocks: Table | Columns, *, warmup_steps: float, confidence: float) -> dict[str, Any]:
    """Returns columns of runs.csv: the largest slope over ranks, of allocated (GPU) or resident memory."""
    columns = Columns(blocks)
    steady = columns.among("phase", ("measured",)) & (columns["first_step"] >= warmup_steps)
    if not steady.any():
        return NO_GROWTH | {"memory_grows": False}
    read = {name: columns[name][steady].astype(float) for name in KINDS}
    column = "resident_gib" if np.isnan(read["allocated_gib"]).all() else "allocated_gib"
    ranks, steps, sizes_gib = columns["rank"][steady], columns["first_step"][steady], read[column]
    found = {
        rank: memory_growth(steps[ranks == rank], sizes_gib[ranks == rank], confidence=confidence)
        for rank in np.unique(ranks)
    }
    rank, (slope, grows) = max(found.items(), key=lambda item: (item[1][1], item[1][0].value))
    return {
        **slope.columns(GROWTH),
        "memory_growth_rank": rank,
        "memory_growth_kind": KINDS[column],
        "memory_grows": grows,
    }
