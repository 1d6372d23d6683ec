"""Who waits for whom: gradient buckets as they became ready on each rank, and as they were summed.

A collective starts when its last rank is there. So for each bucket and step, with ready times r and end e:
waiting of a rank is max(r) - r, transfer is e - max(r), and the late rank is the one with the largest r.
Wall times cannot tell: all ranks of a synchronous step are equally slow. Ready times of ranks of one host share a
clock; between hosts they say nothing.
"""

from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.grid import Grid, firsts, means
from scalestudy.record.tables import Table

WAITS = ("exposed_hook", "wait_time", "transfer_time")
LATE = ("late_rank", "late_share", "lateness_s")
"""Columns of a run; over runs the last has limits."""
NOBODY_LATE: dict[str, Any] = dict.fromkeys(LATE, nan)


def buckets_grid(buckets: Table | Grid) -> Grid:
    """Buckets of one run as a rectangle: an entry a step and bucket."""
    return buckets if isinstance(buckets, Grid) else Grid.of(buckets, along=("step", "bucket"))


def waits_by_round(buckets: Table | Grid) -> dict[str, np.ndarray]:
    """WAITS in seconds per step, means over ranks and steps, a value a round.

    exposed_hook: from the last gradient of a rank to the end of the last bucket: the logger's exposed span,
    measured another way. Of it wait_time is waiting for the latest rank, and transfer_time the rest.
    """
    grid = buckets_grid(buckets)
    if not len(grid):
        return dict.fromkeys(WAITS, np.empty(0))
    ready_s, done_s = _at_end(grid, "ready_s"), _at_end(grid, "done_s")
    latest_s = ready_s.max(axis=0)
    blocks = firsts(grid.of_step("block")[firsts(grid.of_step("step"))])
    waits = (done_s - ready_s, latest_s - ready_s, done_s - latest_s)
    return {name: means(times_s, blocks).mean(axis=0) for name, times_s in zip(WAITS, waits, strict=True)}


def late_rank(buckets: Table | Grid) -> dict[str, Any]:
    """Columns of runs.csv: the rank that was last for most buckets; nan where there are none.

    late_share: of the buckets. lateness_s: how much later its last gradient was than the mean of the others', over
    steps.
    """
    grid = buckets_grid(buckets)
    if not len(grid):
        return NOBODY_LATE
    return _last(grid["rank"], grid["ready_s"], _at_end(grid, "ready_s"))


def late_of_blocks(grid: Grid, own_s: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    """LATE, from what ranks take when none waits for another. own_s: (ranks, steps). numbers: of blocks.

    late_share: of the blocks. lateness_s: how much longer a step of that rank takes than the mean of the others'.
    """
    of_blocks_s = means(own_s, firsts(numbers))
    return _last(grid["rank"], of_blocks_s, of_blocks_s)


def _last(rank: np.ndarray, often: np.ndarray, late_s: np.ndarray) -> dict[str, Any]:
    """LATE. often, late_s: (ranks, times), by which is told how often a rank is last, and by how much."""
    last_for = np.bincount(often.argmax(axis=0))
    late = int(last_for.argmax())
    lateness_s = late_s[late] - np.delete(late_s, late, axis=0).mean(axis=0)
    return {
        "late_rank": int(rank[late, 0]),
        "late_share": float(last_for[late] / often.shape[1]),
        "lateness_s": float(lateness_s.mean()),
    }


def _at_end(buckets: Grid, stamp: str) -> np.ndarray:
    """(ranks, steps): when the last bucket of a step was ready, or done."""
    return np.maximum.reduceat(buckets[stamp], firsts(buckets.of_step("step")), axis=1)
