"""What is asked of rows of the summary in more than one place."""

from math import isnan

import pandas as pd

from scalestudy.analyse.costs.collectives import RING
from scalestudy.analyse.point.protocols import measured_of, same_meaning
from scalestudy.registry.column import Row

LATE_SHARE = 0.10
"""Of a step; from here a rank counts as late. TraceML warns of skew from there, and calls it critical from 0.2."""

WORK = ["workload", "scaling", "nodes", "devices_per_node", "global_batch"]
"""What points have in common that differ in how they were run alone."""
SERIES = ["workload", "variant", "scaling"]
"""What points have in common that differ in their scale alone."""


def distributed(summary: pd.DataFrame) -> pd.DataFrame:
    """Rows of several ranks."""
    rows: pd.DataFrame = summary[summary["world_size"] > 1]
    return rows


def base_of(summary: pd.DataFrame, point: pd.Series) -> pd.DataFrame:
    """The row of a point's baseline, if there is one."""
    rows: pd.DataFrame = summary[
        summary["is_base"]
        & (summary["workload"] == point["workload"])
        & (summary["variant"] == point["base_variant"])
        & (summary["scaling"] == point["scaling"])
    ]
    return rows


def alone_by_batch(summary: pd.DataFrame, point: pd.Series) -> pd.DataFrame:
    """Rows of one process of the workload and base variant of a point that compare with it, one a batch size."""
    single: pd.DataFrame = summary[
        (summary["workload"] == point["workload"])
        & (summary["variant"] == point["base_variant"])
        & (summary["world_size"] == 1)
        & same_meaning(summary, measured_of(point))
    ]
    return single.drop_duplicates("batch_per_rank")


def in_most_launches(row: Row, column: str) -> bool:
    """Whether most runs of a row are among those that a column counts."""
    return bool(2 * row[column] > row["launches_ok"])


def mostly_unsteady(row: Row) -> bool:
    """Whether most runs of a row had no single step time."""
    return in_most_launches(row, "launches_unsteady")


def last_often(ranks: int) -> float:
    """Share of buckets from which a rank is last too often to be chance: half-way from its due to always."""
    return (1 + 1 / ranks) / 2


def waits_for_one(row: pd.Series) -> bool:
    """Whether one rank is late for a good part of the step, in most buckets, and the same in all runs."""
    often = row["late_share"] >= last_often(int(row["world_size"]))
    elsewhere = row["lateness_s_low"] <= 0  # another one in other runs
    return bool(often and row["lateness_s"] >= LATE_SHARE * row["step_time_s"] and not elsewhere)


def ring_latency_s(point: pd.Series) -> float | None:
    """Of one message between neighbours in a ring, from that of the whole all-reduce; None where not measured."""
    whole_s = point["all_reduce_latency_s"]
    return None if isnan(whole_s) else max(0.0, whole_s) / RING.steps(int(point["world_size"]))
