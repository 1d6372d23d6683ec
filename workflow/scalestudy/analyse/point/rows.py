"""Common operations on rows of the summary."""

from math import isnan

import pandas as pd

from scalestudy.analyse.costs.collectives import RING
from scalestudy.analyse.point.protocols import measured_of, same_meaning
from scalestudy.registry.column import Row

LATE_SHARE = 0.10
"""Share of a step from which a rank counts as late, as in TraceML's warning of skew (critical from 0.2)."""

WORK = ["workload", "scaling", "nodes", "devices_per_node", "global_batch"]
"""Key of points that differ only in variant."""
SERIES = ["workload", "variant", "scaling"]
"""Key of points that differ only in scale."""


def distributed(summary: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of several ranks, without a baseline that has several."""
    rows: pd.DataFrame = summary[(summary["world_size"] > 1) & ~summary["is_base"].astype(bool)]
    return rows


def base_of(summary: pd.DataFrame, point: pd.Series) -> pd.DataFrame:
    """Returns the row of a point's baseline, if there is one."""
    rows: pd.DataFrame = summary[
        summary["is_base"]
        & (summary["workload"] == point["workload"])
        & (summary["variant"] == point["base_variant"])
        & (summary["scaling"] == point["scaling"])
    ]
    return rows


def alone_by_batch(summary: pd.DataFrame, point: pd.Series) -> pd.DataFrame:
    """Returns comparable rows of one process with the workload and base variant of a point, one per batch size."""
    single: pd.DataFrame = summary[
        (summary["workload"] == point["workload"])
        & (summary["variant"] == point["base_variant"])
        & (summary["world_size"] == 1)
        & same_meaning(summary, measured_of(point))
    ]
    return single.drop_duplicates("batch_per_rank")


def in_most_launches(row: Row, column: str) -> bool:
    """Returns whether a column counts most runs of a row."""
    return bool(2 * row[column] > row["launches_ok"])


def mostly_unsteady(row: Row) -> bool:
    """Returns whether a single step time does not describe most runs of a row."""
    return in_most_launches(row, "launches_unsteady")


def last_often(ranks: int) -> float:
    """Returns the share of buckets that is too large for chance: midpoint between 1/ranks and 1."""
    return (1 + 1 / ranks) / 2


def waits_for_one(row: pd.Series) -> bool:
    """Returns whether the same rank is late in all runs, in most buckets, by a large part of the step."""
    often = row["late_share"] >= last_often(int(row["world_size"]))
    elsewhere = row["lateness_s_low"] <= 0  # another rank in other runs
    return bool(often and row["lateness_s"] >= LATE_SHARE * row["step_time_s"] and not elsewhere)


def ring_latency_s(point: pd.Series) -> float | None:
    """Returns the latency of one message in a ring, from the whole all-reduce; None if not measured."""
    whole_s = point["all_reduce_latency_s"]
    return None if isnan(whole_s) else max(0.0, whole_s) / RING.steps(int(point["world_size"]))
