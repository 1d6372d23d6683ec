"""Every quantity of a point that a document may print: what it is, its unit, and how it is rounded.

Documents ask for a quantity by name, and so does numbers.json: what they print is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from typing import Any, Literal

import pandas as pd

from scalestudy.publish.rounding import DASH, Shown, show, show_count, show_percent, show_scaled

# In the order of a step. Where communication was probed, the backward pass is shown as its two parts.
PARTS = {
    "data_time": "data wait",
    "h2d_time": "host to device",
    "forward_time": "forward",
    "backward_time": "backward",
    "backward_compute_time": "backward computation",
    "exposed_span": "exposed communication",
    "optimizer_time": "optimizer",
    "logging_time": "logging",
    "checkpoint_time": "checkpoint",
    "remainder_time": "remainder",
}
SPLIT, WHOLE = ("backward_compute_time", "exposed_span"), "backward_time"

Limits = Literal["interval", "range", "none"]
Limited = tuple[float, float, float]
Row = Mapping[str, Any] | pd.Series


@dataclass(frozen=True)
class Quantity:
    """A number of a row of comprehensive_summary.csv or forecasts.csv."""

    source: str | Callable[[Row], Limited]
    """Its column, or what derives it and its limits from the row."""
    what: str
    """In words, with the statistic."""
    unit: str = ""
    """As it is printed; '' for a ratio."""
    factor: float = 1
    """From the column's unit to the printed one."""
    limits: Limits = "none"
    """Columns X_low and X_high at the study's confidence, X_min and X_max of launches, or none."""
    kind: Literal["measured", "share", "count", "scaled"] = "measured"
    """How it is rounded; what is scaled has three digits and a prefix of the SI."""

    def of(self, row: Row) -> tuple[float, float, float]:
        """(value, low, high) in the printed unit; nan for what is not there."""
        if not isinstance(self.source, str):
            value, below, above = self.source(row)
            return value * self.factor, below * self.factor, above * self.factor
        low, high = {"interval": ("_low", "_high"), "range": ("_min", "_max"), "none": ("?", "?")}[self.limits]
        value, below, above = (float(row.get(f"{self.source}{end}", nan)) for end in ("", low, high))
        return value * self.factor, below * self.factor, above * self.factor

    def shown(self, row: Row) -> Shown:
        """As a reader sees it."""
        value, low, high = self.of(row)
        if isnan(value):
            return Shown(DASH)
        if self.kind == "measured":
            return show(value, low, high)
        return {"count": show_count, "share": show_percent, "scaled": show_scaled}[self.kind](value)


def _parts_sum(row: Row) -> float:
    """Seconds. Shares are of this sum: parts are means over ranks, the step time is that of the slowest."""
    return sum(row[f"{part}_s"] for part in PARTS if part not in SPLIT)


def _share_of_parts(column: str, row: Row) -> Limited:
    return row[column] / _parts_sum(row), nan, nan


def _flop_rate(row: Row) -> Limited:
    return row["flops_per_sample"] * row["throughput_samples_per_s"] / row["world_size"], nan, nan


def _device_hours(row: Row) -> Limited:
    """Dearer where fewer samples are done in a second: the limits change places."""
    ends = ("", "_high", "_low")
    value, low, high = (row["world_size"] * 1e6 / row[f"throughput_samples_per_s{end}"] / 3600 for end in ends)
    return value, low, high


def _time(column: str, what: str, *, limits: Limits = "interval") -> dict[str, Quantity]:
    """A time of a step, in milliseconds."""
    return {f"{column}_ms": Quantity(f"{column}_s", what, "ms", 1e3, limits)}


def _parts() -> dict[str, Quantity]:
    """Each part of a step, and its share of them all."""
    found = {}
    for part, name in PARTS.items():
        what = f"{name}, mean over steady steps and ranks"
        found[f"{part}_ms"] = Quantity(f"{part}_s", what, "ms", 1e3, "interval")
        found[f"{part}_share_percent"] = Quantity(
            partial(_share_of_parts, f"{part}_s"), f"share of {name} in a step", "%", 100, kind="share"
        )
    return found


def _memory() -> dict[str, Quantity]:
    return {
        f"{statistic}_{kind}_gib": Quantity(
            f"{statistic}_{kind}_gib", f"{statistic} {kind} memory of the rank that has most", "GiB"
        )
        for kind in ("resident", "allocated", "reserved")
        for statistic in ("peak", "mean")
    }


_PRICE = "mean over ranks, as the difference of blocks with and without synchronisation"

QUANTITIES: dict[str, Quantity] = {
    "ranks": Quantity("world_size", "number of ranks", kind="count"),
    "nodes": Quantity("nodes", "number of nodes", kind="count"),
    "batch_per_rank": Quantity("batch_per_rank", "samples of a step, of one rank", kind="count"),
    "global_batch": Quantity("global_batch", "samples of a step, of all ranks", kind="count"),
    "launches": Quantity("launches", "launches of this point", kind="count"),
    "launches_ok": Quantity("launches_ok", "launches that came to their end", kind="count"),
    **_time("step_time", "step time of the slowest rank, geometric mean over launches"),
    **_time("step_time_p50", "median step time, median over launches", limits="none"),
    **_time("step_time_p95", "95th percentile of step times, median over launches", limits="none"),
    **_time("step_time_p99", "99th percentile of step times, median over launches", limits="none"),
    "step_time_cv_percent": Quantity(
        "step_time_cv", "scatter of steps, coefficient of variation, median over launches", "%", 100, kind="share"
    ),
    "launch_cv_percent": Quantity(
        "launch_cv", "scatter of launches, coefficient of variation", "%", 100, kind="share"
    ),
    "half_width_percent": Quantity(
        "half_width", "half-width of the step time's interval, of the step time", "%", 100, kind="share"
    ),
    "throughput_samples_per_s": Quantity(
        "throughput_samples_per_s", "samples a second, of all ranks", "samples/s", limits="interval"
    ),
    "speedup": Quantity("speedup", "ratio of throughputs to the base case", limits="interval"),
    "efficiency_percent": Quantity("efficiency", "speedup over ranks", "%", 100, "interval"),
    "per_doubling_efficiency_percent": Quantity(
        "per_doubling_efficiency", "efficiency of one doubling of ranks, geometric mean", "%", 100
    ),
    "relative_throughput": Quantity(
        "relative_throughput", "ratio of throughputs to the first variant at the same place", limits="interval"
    ),
    "device_hours_per_million_samples": Quantity(
        _device_hours, "hours of all devices for a million samples", "h", limits="interval"
    ),
    "karp_flatt": Quantity("karp_flatt", "serial fraction after Karp and Flatt"),
    **_time("overhead", "step time less that of one process at equal batch per rank"),
    "overhead_share_percent": Quantity("overhead_share", "overhead over step time", "%", 100),
    **_time("step_time_alone", "step time of one process at equal batch per rank"),
    **_parts(),
    "parts_ms": Quantity(
        lambda row: (_parts_sum(row), nan, nan), "all parts of a step, mean over ranks", "ms", 1e3
    ),
    **_time("rank_skew", "spread of step times over ranks", limits="none"),
    **_time("differential", f"synchronisation of gradients, {_PRICE}"),
    **_time("interference", "backward computation slowed by synchronisation"),
    "synchronisation_remainder_ms": Quantity(
        "remainder_s", "synchronisation that nothing of this explains", "ms", 1e3, "interval"
    ),
    **_time("exposed_hook", "exposed communication by the stamps of gradient buckets"),
    **_time("wait_time", "of it, until the latest rank is ready"),
    **_time("transfer_time", "of it, from then to the end of the last bucket"),
    **_time("imbalance", "slowest rank's own work less the mean, without synchronisation"),
    **_time("hook_cost", "price of the stamps"),
    **_time("lateness", "how much later the gradients of the latest rank come", limits="none"),
    "all_reduce_latency_us": Quantity("all_reduce_latency_s", "latency of an idle all-reduce", "us", 1e6),
    "all_reduce_gib_per_s": Quantity("all_reduce_gib_per_s", "bandwidth of the largest idle all-reduce", "GiB/s"),
    "all_reduce_bus_gib_per_s": Quantity(
        "all_reduce_bus_gib_per_s", "bus bandwidth of the largest idle all-reduce", "GiB/s"
    ),
    **_memory(),
    "accuracy_percent": Quantity(
        "validation_accuracy", "validation accuracy after training, mean of launches", "%", 100, "range"
    ),
    "accuracy_difference_points": Quantity(
        "accuracy_difference", "validation accuracy less the base case's", "points", 100, "interval"
    ),
    "time_to_accuracy_s": Quantity(
        "time_to_accuracy_s", "training time to the target accuracy", "s", limits="interval"
    ),
    "time_to_accuracy_speedup": Quantity(
        "time_to_accuracy_speedup", "ratio of training times to the target accuracy", limits="interval"
    ),
    "parameters": Quantity("parameters", "trained parameters", kind="scaled"),
    "flop_per_sample": Quantity("flops_per_sample", "arithmetic of a sample", "FLOP", kind="scaled"),
    "flop_per_s_per_rank": Quantity(_flop_rate, "arithmetic done by a rank", "FLOP/s", kind="scaled"),
    "sent_mib_per_step": Quantity("bytes_sent_per_step", "sent by a rank in a step", "MiB", 2**-20),
}

HEADLINE = ("step_time_ms", "throughput_samples_per_s", "speedup", "efficiency_percent")
"""What every point has; of one without a good launch the outcome stands in its place."""


def shown(row: Row, name: str) -> Shown:
    """A quantity of a row, by name, as a reader sees it."""
    return QUANTITIES[name].shown(row)
