"""Who waits for whom: gradient buckets as they became ready on each rank, and as they were summed.

A collective starts when its last rank is there. So for each bucket and step, with ready times r and end e:
waiting of a rank is max(r) - r, transfer is e - max(r), and the late rank is the one with the largest r.
Wall times cannot tell: all ranks of a synchronous step are equally slow. Ready times of ranks of one host share a
clock; between hosts they say nothing.
"""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd

WAITS = ("exposed_hook", "wait_time", "transfer_time")
LATE = ("late_rank", "late_share", "lateness_s")
"""Columns of a run; over launches the last has limits."""


def waits_by_round(buckets: pd.DataFrame) -> pd.DataFrame:
    """A row a round: seconds per step, means over ranks and steps, of WAITS.

    exposed_hook: from the last gradient of a rank to the end of the last bucket: the logger's exposed span,
    measured another way. Of it wait_time is waiting for the latest rank, and transfer_time the rest.
    """
    if buckets.empty:
        return pd.DataFrame(columns=list(WAITS))
    last = _at_end(buckets)
    latest = last.groupby(["block", "step"])["ready_s"].transform("max")
    waits = pd.DataFrame(
        {
            "exposed_hook": last["done_s"] - last["ready_s"],
            "wait_time": latest - last["ready_s"],
            "transfer_time": last["done_s"] - latest,
        }
    )
    return waits.groupby("block").mean().reset_index(drop=True)


def late_rank(buckets: pd.DataFrame) -> dict[str, Any]:
    """Columns of runs.csv: the rank that was last for most buckets; nan where there are none.

    late_share: of the buckets. lateness_s: how much later its last gradient was than the mean of the others', over
    steps.
    """
    if buckets.empty:
        return dict.fromkeys(LATE, nan)
    ready = buckets.set_index(["step", "bucket", "rank"])["ready_s"].unstack("rank")
    shares = ready.idxmax(axis=1).value_counts(normalize=True)
    rank = int(shares.index[0])
    at_end = _at_end(buckets)["ready_s"].unstack("rank")
    return {
        "late_rank": rank,
        "late_share": float(shares.iloc[0]),
        "lateness_s": float((at_end[rank] - at_end.drop(columns=rank).mean(axis=1)).mean()),
    }


def _at_end(buckets: pd.DataFrame) -> pd.DataFrame:
    """When the last bucket of a step was ready and done, on each rank."""
    return buckets.groupby(["block", "step", "rank"])[["ready_s", "done_s"]].max()
