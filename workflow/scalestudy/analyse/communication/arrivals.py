"""Waiting between ranks, from the times at which gradient buckets were ready on each rank and summed.

A collective starts when its last rank is ready. For each bucket and step, with ready times r and end e: the
waiting time of a rank is max(r) - r, the transfer time is e - max(r), and the late rank has the largest r. Wall
times cannot show this, because all ranks of a synchronous step are equally slow. Ready times are comparable only
between ranks of one host, which share a clock.
"""

from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.grid import Grid, firsts, means
from scalestudy.record.tables import Table

WAITS = ("exposed_hook", "wait_time", "transfer_time")
LATE = ("late_rank", "late_share", "lateness_s")
"""Columns of a run; over runs, the last one has limits."""
NOBODY_LATE: dict[str, Any] = dict.fromkeys(LATE, nan)


def buckets_grid(buckets: Table | Grid) -> Grid:
    """Returns the buckets of one run as a grid: an entry per step and bucket."""
    return buckets if isinstance(buckets, Grid) else Grid.of(buckets, along=("step", "bucket"))


def waits_by_round(buckets: Table | Grid) -> dict[str, np.ndarray]:
    """Returns WAITS in seconds per step, means over ranks and steps, one value per round.

    exposed_hook: from the last gradient of a rank to the end of the last bucket, an independent reading of the
    logger's exposed span. It is the sum of wait_time, the waiting for the latest rank, and transfer_time.
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
    """Returns columns of runs.csv for the rank that was last for most buckets.

    nan if there are no buckets, or only one rank.

    late_share: share of the buckets. lateness_s: delay of its last gradient relative to the mean of the others',
    mean over steps.
    """
    grid = buckets_grid(buckets)
    if not len(grid) or len(grid["rank"]) == 1:
        return NOBODY_LATE
    return _last(grid["rank"], grid["ready_s"], _at_end(grid, "ready_s"))


def late_of_blocks(grid: Grid, own_s: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    """Returns LATE from times in which ranks do not wait for each other. own_s: (ranks, steps). numbers: of
    blocks.

    late_share: share of the blocks. lateness_s: how much longer a step of that rank takes than the mean of the
    others'.
    """
    of_blocks_s = means(own_s, firsts(numbers))
    return _last(grid["rank"], of_blocks_s, of_blocks_s)


def _last(rank: np.ndarray, often: np.ndarray, late_s: np.ndarray) -> dict[str, Any]:
    """Returns LATE. often, late_s: (ranks, times), for how often a rank is last, and by how much."""
    last_for = np.bincount(often.argmax(axis=0))
    late = int(last_for.argmax())
    lateness_s = late_s[late] - np.delete(late_s, late, axis=0).mean(axis=0)
    return {
        "late_rank": int(rank[late, 0]),
        "late_share": float(last_for[late] / often.shape[1]),
        "lateness_s": float(lateness_s.mean()),
    }


def _at_end(buckets: Grid, stamp: str) -> np.ndarray:
    """Returns (ranks, steps): when the last bucket of a step was ready, or done."""
    return np.maximum.reduceat(buckets[stamp], firsts(buckets.of_step("step")), axis=1)
