"""The model sizes between which FSDP overtakes DDP, if the intervals show this."""

from collections.abc import Iterator
from typing import cast

import pandas as pd

from scalestudy.analyse.point.rows import WORK, distributed

PLACE = ["scaling", "nodes", "devices_per_node"]


def beside_ddp(summary: pd.DataFrame) -> Iterator[tuple[tuple[str, str, int, int], pd.DataFrame]]:
    """Yields ((FSDP variant, scaling, nodes, devices per node), its points by size) where DDP does the same work.

    summary: its rows are points, of all workloads. The columns of relative_throughput are relative to that DDP
    variant: those of the summary if DDP is first in the study, their inverse if FSDP is. Columns of the DDP
    variant end in _of_ddp.
    """
    rows = distributed(summary)
    of_ddp = rows[rows["strategy"] == "ddp"].drop_duplicates(WORK)
    pairs = rows[rows["strategy"] == "fsdp"].merge(of_ddp, on=WORK, suffixes=("", "_of_ddp"))
    value, low, high = (f"relative_throughput{end}" for end in ("", "_low", "_high"))
    second = pairs["beside_variant_of_ddp"] == pairs["variant"]
    first = pairs["beside_variant"] == pairs["variant_of_ddp"]
    pairs.loc[second, [value, low, high]] = (
        1 / pairs.loc[second, [f"{value}_of_ddp", f"{high}_of_ddp", f"{low}_of_ddp"]]
    ).to_numpy()
    pairs.loc[~first & ~second, [value, low, high]] = float("nan")
    pairs = pairs[pairs["parameters"].notna() | pairs["parameters_of_ddp"].notna()]
    pairs["parameters"] = pairs["parameters"].fillna(pairs["parameters_of_ddp"])
    for key, points in pairs.groupby(["variant", *PLACE], sort=False):
        yield cast("tuple[str, str, int, int]", key), points.sort_values("parameters", kind="stable")


def overtaking(points: pd.DataFrame) -> dict[str, float]:
    """Returns where the points of one FSDP variant cross; empty if they do not, or if their limits do not show it.

    In parameters: `slower_at`, the largest model that FSDP trains slower than DDP, and `faster_at`, the smallest
    that it trains faster. points: from beside_ddp. If FSDP has a good run and DDP has none, DDP counts as
    overtaken.
    """
    alone = points["step_time_s"].notna() & points["relative_throughput"].isna()
    alone &= points["launches_ok_of_ddp"] + points["launches_too_short_of_ddp"] == 0
    slower = points.loc[points["relative_throughput_high"] < 1, "parameters"]
    faster = points.loc[(points["relative_throughput_low"] > 1) | alone, "parameters"]
    if not len(slower) or not len(faster) or slower.max() >= faster.min():
        return {}
    return {"slower_at": float(slower.max()), "faster_at": float(faster.min())}
