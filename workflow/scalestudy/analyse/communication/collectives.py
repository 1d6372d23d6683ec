"""Collectives on an idle network: time, bandwidth and bus bandwidth by message size, and a linear fit."""

from collections.abc import Mapping
from math import nan

import numpy as np
import pandas as pd

from scalestudy.analyse.run.grid import Columns, Grid, firsts
from scalestudy.record.tables import Table

GIB = 2**30
BUS_BANDWIDTH = "all_reduce_bus_gib_per_s"
BANDWIDTHS = ("all_reduce_gib_per_s", BUS_BANDWIDTH)
LARGEST = "all_reduce_largest_bytes"
SMALL_SHARE = "all_reduce_small_share"
SMALL = 1 / 8  # of the largest message
TIMES = ("all_reduce_latency_s", "buffer_broadcast_s")
BUS = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1}

COLUMNS = (
    *("collective", "bytes", "calls", "time_s", "time_p95_s"),
    *("bandwidth_gib_per_s", "bus_bandwidth_gib_per_s"),
)


def bus_factor(collective: str, ranks: int) -> float:
    """Returns the bytes over each link per byte of message, which makes bandwidths at different ranks comparable.

    All-reduce 2 (n - 1) / n, all-gather and reduce-scatter (n - 1) / n, broadcast 1. Source: nccl-tests,
    PERFORMANCE.md.
    """
    return 1.0 if collective == "broadcast" else BUS[collective] * (ranks - 1) / ranks


def collectives_frame(calls: Table) -> pd.DataFrame:
    """Returns a row per collective and size: COLUMNS, as in `collectives_of`."""
    return pd.DataFrame(collectives_of(calls), columns=list(COLUMNS))


def collectives_of(calls: Table) -> dict[str, np.ndarray]:
    """Returns COLUMNS, an entry per collective and size: median and p95 over calls of the maximum over ranks.

    calls: rows of collectives.parquet. bandwidth is bytes / time, bus_bandwidth is bandwidth times bus_factor;
    GiB/s. time_s and both bandwidths are nan where the device's events did not resolve the median call.
    """
    if not len(calls):
        return {name: np.empty(0, dtype=object if name == "collective" else float) for name in COLUMNS}
    columns = Columns(calls)
    codes, words = columns.words("collective")
    names, numbers = np.unique(words, return_inverse=True)
    columns["kind"] = numbers[codes]
    grid = Grid.of(columns, along=("kind", "bytes", "call"))
    kinds, sizes, slowest_s = grid.of_step("kind"), grid.of_step("bytes"), grid["time_s"].max(axis=0)
    begins = np.union1d(firsts(kinds), firsts(sizes))
    counts = np.diff(begins, append=len(sizes))
    time_s, time_p95_s = np.empty(len(begins)), np.empty(len(begins))
    for count in np.unique(counts):  # of all sizes with the same number of calls at once
        mine = counts == count
        times_s = slowest_s[begins[mine][:, None] + np.arange(count)]
        time_s[mine], time_p95_s[mine] = np.median(times_s, axis=1), np.quantile(times_s, 0.95, axis=1)
    time_s[time_s <= 0] = nan  # shorter than the resolution of the device's events: one rank sends nothing
    factors = np.array([bus_factor(name, len(grid.rows)) for name in names[kinds[begins]]])
    bandwidth = sizes[begins] / time_s / GIB
    return {
        "collective": names[kinds[begins]],
        "bytes": sizes[begins],
        "calls": counts,
        "time_s": time_s,
        "time_p95_s": time_p95_s,
        "bandwidth_gib_per_s": bandwidth,
        "bus_bandwidth_gib_per_s": bandwidth * factors,
    }


def enqueue_of(calls: Table) -> float:
    """Returns the host's seconds for an all-reduce of the smallest message: median over calls of the maximum over
    ranks; nan if the device's time includes it, as on a CPU and in older records.

    calls: rows of collectives.parquet. On a GPU it is not part of the latency from the fit over sizes.
    """
    if not Columns(calls).has("enqueue_s") or pd.isna(Columns(calls)["enqueue_s"]).all():
        return nan  # without a frame, whose construction takes as long as the rest of a run
    frame = calls if isinstance(calls, pd.DataFrame) else calls.to_pandas()
    mine = frame[(frame["collective"] == "all-reduce") & frame["enqueue_s"].notna()]
    smallest = mine[mine["bytes"] == mine["bytes"].min()]
    return float(smallest.groupby("call")["enqueue_s"].max().median()) if len(smallest) else nan


def latency_and_bandwidth(sizes: np.ndarray, times_s: np.ndarray) -> tuple[float, float]:
    """Returns (latency in s, bandwidth in bytes/s) of t = latency + bytes / bandwidth, by least squares of
    relative errors.

    nan with fewer than three sizes of known time, or if the time does not grow with the size. Source: Hockney
    (1994), "The communication challenge for MPP", Parallel Computing 20.
    """
    known = np.isfinite(times_s)
    sizes, times_s = sizes[known], times_s[known]
    if len(sizes) < 3:
        return nan, nan
    weights = 1 / times_s
    design = np.column_stack([weights, sizes * weights])
    (latency, per_byte), *_ = np.linalg.lstsq(design, np.ones(len(weights)), rcond=None)
    return (float(latency), float(1 / per_byte)) if per_byte > 0 else (nan, nan)


def network_of(found: Mapping[str, np.ndarray] | pd.DataFrame) -> dict[str, float]:
    """Returns columns of runs.csv: latency, bandwidth and bus bandwidth of the all-reduce at the largest message,
    the time of a small message relative to the largest, and the time of the broadcast of the model's buffers, if
    DDP makes one.

    found: from collectives_of or collectives_frame.
    """
    names, all_sizes, all_times_s = (np.asarray(found[name]) for name in ("collective", "bytes", "time_s"))
    reduces, broadcast = (names == name for name in ("all-reduce", "broadcast"))
    if not reduces.any():
        return dict.fromkeys((*TIMES, *BANDWIDTHS, LARGEST, SMALL_SHARE), nan)
    sizes, times_s = all_sizes[reduces], all_times_s[reduces]
    small = times_s[sizes <= SMALL * sizes[-1]]
    latency, bandwidth = latency_and_bandwidth(sizes, times_s)
    return {
        "all_reduce_latency_s": latency,
        "all_reduce_gib_per_s": bandwidth / GIB,
        BUS_BANDWIDTH: float(np.asarray(found["bus_bandwidth_gib_per_s"])[reduces][-1]),
        LARGEST: float(sizes[-1]),
        SMALL_SHARE: float(small[-1] / times_s[-1]) if len(small) else nan,
        "buffer_broadcast_s": float(all_times_s[broadcast][-1]) if broadcast.any() else nan,
    }
