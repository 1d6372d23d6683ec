"""Tables of a paper and their columns, as the config names them."""

from __future__ import annotations

from typing import Literal

Column = Literal[
    "ranks",
    "nodes",
    "batch_per_rank",
    "global_batch",
    "launches_ok",
    "step_time_ms",
    "step_time_p50_ms",
    "step_time_p95_ms",
    "step_time_p99_ms",
    "throughput_samples_per_s",
    "speedup",
    "efficiency_percent",
    "per_doubling_efficiency_percent",
    "karp_flatt",
    "relative_throughput",
    "overhead_ms",
    "overhead_share_percent",
    "data_time_ms",
    "h2d_time_ms",
    "forward_time_ms",
    "backward_time_ms",
    "backward_compute_time_ms",
    "exposed_span_ms",
    "optimizer_time_ms",
    "logging_time_ms",
    "checkpoint_time_ms",
    "remainder_time_ms",
    "peak_allocated_gib",
    "mean_allocated_gib",
    "peak_reserved_gib",
    "peak_resident_gib",
    "accuracy_percent",
    "time_to_accuracy_s",
    "parameters",
    "device_hours_per_million_samples",
]
"""A quantity that a table may have a column of; its unit stands in its name."""

_MEASURED: tuple[Column, ...] = (
    "ranks",
    "batch_per_rank",
    "step_time_ms",
    "step_time_p95_ms",
    "throughput_samples_per_s",
    "speedup",
    "efficiency_percent",
)

Table = Literal[
    "summary", "strong_scaling", "weak_scaling", "step_breakdown", "memory", "variants", "ddp_fsdp", "proposal"
]

COLUMNS: dict[Table, tuple[Column, ...]] = {
    "summary": _MEASURED,
    "strong_scaling": (*_MEASURED, "per_doubling_efficiency_percent"),
    "weak_scaling": (*_MEASURED, "per_doubling_efficiency_percent"),
    "step_breakdown": (
        "ranks",
        "data_time_ms",
        "h2d_time_ms",
        "forward_time_ms",
        "backward_time_ms",
        "exposed_span_ms",
        "optimizer_time_ms",
        "logging_time_ms",
        "checkpoint_time_ms",
        "remainder_time_ms",
    ),
    "memory": (
        "ranks",
        "batch_per_rank",
        "parameters",
        "peak_allocated_gib",
        "peak_reserved_gib",
        "peak_resident_gib",
    ),
    "variants": ("ranks", "step_time_ms", "throughput_samples_per_s", "relative_throughput", "accuracy_percent"),
    "ddp_fsdp": (
        "ranks",
        "step_time_ms",
        "throughput_samples_per_s",
        "relative_throughput",
        "peak_allocated_gib",
        "peak_resident_gib",
    ),
    "proposal": (
        "nodes",
        "ranks",
        "batch_per_rank",
        "global_batch",
        "step_time_ms",
        "throughput_samples_per_s",
        "speedup",
        "efficiency_percent",
        "per_doubling_efficiency_percent",
        "peak_allocated_gib",
        "device_hours_per_million_samples",
    ),
}
"""Columns of a table unless the study asks for others. One that no row has a number for is left out."""

FILES: dict[Table, str] = {name: "summary_table" if name == "summary" else name for name in COLUMNS}
"""The file of a table, without its suffix. That of the summary is known by that name."""

NAMES = (*FILES.values(), "environment", "provenance")
"""All files of tables/: also those that are no table of numbers."""
