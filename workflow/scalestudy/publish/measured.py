"""What was measured of a point beyond its step time, as text: parts of a step, communication, what to mind."""

from __future__ import annotations

from math import isnan
from typing import Any

import pandas as pd

from scalestudy.publish.numbers import DASH, show, show_share

# In the order of a step. Where communication was probed, the backward pass is shown as its two parts.
PARTS = (
    ("data_time_s", "data wait"),
    ("h2d_time_s", "host to device"),
    ("forward_time_s", "forward"),
    ("backward_time_s", "backward"),
    ("backward_compute_time_s", "backward computation"),
    ("exposed_span_s", "exposed communication"),
    ("optimizer_time_s", "optimizer"),
    ("logging_time_s", "logging"),
    ("checkpoint_time_s", "checkpoint"),
    ("remainder_time_s", "remainder"),
)
SPLIT, WHOLE = ("backward_compute_time_s", "exposed_span_s"), "backward_time_s"

COMMUNICATION = (
    ("differential_s", "synchronisation, all told", "blocks with it against blocks without"),
    ("exposed_span_s", "of it exposed communication", "DDP's logger"),
    ("interference_s", "of it interference", "backward computation slowed meanwhile"),
    ("remainder_s", "remainder", "what the two leave unexplained"),
    ("exposed_hook_s", "exposed communication again", "stamps of every gradient bucket"),
    ("wait_time_s", "of it waiting", "until the latest rank is ready"),
    ("transfer_time_s", "of it transfer", "from then to the end of the last bucket"),
    ("imbalance_s", "imbalance of the ranks' own work", "slowest less mean, without synchronisation"),
    ("hook_cost_s", "price of the stamps", "the differential with them less without"),
)

LATE_SHARE = 0.10  # of a step; from here a rank counts as late. Source: TraceML's threshold of rank skew
LATE_OFTEN = 0.75  # of the buckets


def parts_view(row: pd.Series) -> list[dict[str, str]]:
    """name, ms, share and length of the bar of each part of a step; what takes no time at all is left out."""
    probed = not isnan(row["exposed_span_s"])
    hidden = (WHOLE,) if probed else SPLIT
    whole = _all_parts(row)
    return [
        {
            "name": name,
            "ms": str(show(row[column], factor=1e3)),
            "share": show_share(row[column] / whole),
            # A difference of two measurements, such as backward computation, may come out below zero.
            "bar": f"{min(max(row[column] / whole, 0), 1):.1%}",
        }
        for column, name in PARTS
        if column not in hidden and row[column] != 0 and not isnan(row[column])
    ]


def parts_sum_view(row: pd.Series) -> str:
    """What the parts of a step add up to, in ms."""
    return str(show(_all_parts(row), factor=1e3))


def _all_parts(row: pd.Series) -> float:
    """Parts are means over ranks, the step time is that of the slowest: shares are of what the parts add up to."""
    return sum(row[column] for column, _ in PARTS if column not in SPLIT)


def communication_view(row: pd.Series) -> list[dict[str, Any]]:
    """name, ms (with limits), how it was measured, and whether it is there at all, of what was probed."""
    lines = []
    for column, name, how in COMMUNICATION:
        low, high = row[f"{column}_low"], row[f"{column}_high"]
        if isnan(row[column]):
            continue
        lines.append(
            {
                "name": name,
                "ms": show(row[column], low, high, factor=1e3),
                "how": how,
                "nothing": "not distinguishable from zero" if low <= 0 <= high else "",
            }
        )
    return lines


def memory_view(row: pd.Series) -> str:
    """Memory of the rank that has most: on the device where it counts its own, and resident on the host."""
    resident = (
        f"{show(row['peak_resident_gib'])} GiB resident at the most, {show(row['mean_resident_gib'])} on average"
    )
    if isnan(row["peak_allocated_gib"]):
        return f"{resident}, one rank"
    return (
        f"{show(row['peak_allocated_gib'])} GiB allocated at the most, {show(row['mean_allocated_gib'])} on"
        f" average; {show(row['peak_reserved_gib'])} reserved; {resident}, one rank"
    )


def spread_view(row: pd.Series) -> str:
    """How much steps and launches scatter, as coefficients of variation."""
    steps = f"steps {show_share(row['step_time_cv'])} around their mean"
    return steps if isnan(row["launch_cv"]) else f"{steps}, launches {show_share(row['launch_cv'])}"


def network_view(row: pd.Series) -> str:
    """The all-reduce on the idle network, in a sentence; '' where it was not measured."""
    if isnan(row["all_reduce_bus_gib_per_s"]):
        return ""
    latency = show(row["all_reduce_latency_s"], factor=1e6)
    fitted = "" if latency.value == DASH else f", latency {latency} us"
    return (
        f"All-reduce on the idle network: bus bandwidth {show(row['all_reduce_bus_gib_per_s'])} GiB/s at the"
        f" largest message{fitted}"
    )


def notes_view(row: pd.Series) -> list[str]:
    """What a reader of this row has to mind: sentences, perhaps none."""
    notes = [text for text in (as_text(row["unsteady"]), as_text(row["memory_grows"])) if text]
    late = row["lateness_s"] / row["step_time_s"]
    if row["late_share"] >= LATE_OFTEN and late >= LATE_SHARE:
        notes.append(
            f"rank {int(row['late_rank'])} is late: its gradients came last in {row['late_share']:.0%} of the"
            f" buckets, on average {show(row['lateness_s'], factor=1e3)} ms ({late:.0%} of a step) after those of"
            f" the other ranks"
        )
    if as_text(row["methods"]).startswith("disagree"):
        notes.append(f"methods of measuring communication {row['methods']}")
    if row["allocation_retries"] > 0:
        notes.append(f"the CUDA allocator had to retry {int(row['allocation_retries'])} times: memory is short")
    return notes


def work_view(row: pd.Series) -> str:
    """What a step has to do: parameters, arithmetic and how fast it was done, bytes that a rank sends."""
    said = []
    if not isnan(row["parameters"]):
        said.append(f"{_scaled(row['parameters'])} parameters")
    flops = row["flops_per_sample"]
    if not isnan(flops):
        rate = flops * row["throughput_samples_per_s"] / row["world_size"]
        done = "" if isnan(rate) else f", {_scaled(rate)}FLOP/s a rank"
        said.append(f"{_scaled(flops)}FLOP a sample{done}")
    if row["bytes_sent_per_step"] > 0:
        said.append(f"each rank sends {row['bytes_sent_per_step'] / 2**20:.3g} MiB a step")
    return "; ".join(said)


def _scaled(number: float) -> str:
    """'42 M', '1.28 G': three digits and the prefix of the SI."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number:.3g} "


def as_text(value: Any) -> str:
    """A text column of a CSV: what was empty comes back as nan."""
    return value if isinstance(value, str) else ""
