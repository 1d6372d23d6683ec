"""What stands over a column: two lines at the most, and the unit as siunitx has it."""

from __future__ import annotations

from scalestudy.registry.tables import Column

MS, PERCENT, GIB = r"\unit{\milli\second}", r"\unit{\percent}", r"\unit{\gibi\byte}"

HEADERS: dict[Column, tuple[str, str]] = {
    "ranks": ("Ranks", ""),
    "nodes": ("Nodes", ""),
    "batch_per_rank": ("Batch per rank", ""),
    "global_batch": ("Global batch", ""),
    "launches_ok": ("Launches", ""),
    "step_time_ms": ("Step time", MS),
    "step_time_p50_ms": ("Median", MS),
    "step_time_p95_ms": ("p95", MS),
    "step_time_p99_ms": ("p99", MS),
    "throughput_samples_per_s": ("Samples", r"\unit{\per\second}"),
    "speedup": ("Speedup", ""),
    "efficiency_percent": ("Effic.", PERCENT),
    "per_doubling_efficiency_percent": ("Per doubling", PERCENT),
    "karp_flatt": ("Serial fraction", ""),
    "relative_throughput": ("Relative throughput", ""),
    "overhead_ms": ("Overhead", MS),
    "overhead_share_percent": ("Overhead", PERCENT),
    "data_time_ms": ("Data wait", MS),
    "h2d_time_ms": ("To device", MS),
    "forward_time_ms": ("Forward", MS),
    "backward_time_ms": ("Backward", MS),
    "backward_compute_time_ms": ("Backward comp.", MS),
    "exposed_span_ms": ("Exposed comm.", MS),
    "optimizer_time_ms": ("Optimizer", MS),
    "logging_time_ms": ("Logging", MS),
    "checkpoint_time_ms": ("Checkp.", MS),
    "remainder_time_ms": ("Rest", MS),
    "peak_allocated_gib": ("Peak alloc.", GIB),
    "mean_allocated_gib": ("Mean alloc.", GIB),
    "peak_reserved_gib": ("Peak reserved", GIB),
    "peak_resident_gib": ("Peak resident", GIB),
    "accuracy_percent": ("Accuracy", PERCENT),
    "time_to_accuracy_s": ("Time to acc.", r"\unit{\second}"),
    "parameters": ("Param.", ""),
    "device_hours_per_million_samples": ("Device-h per 1M", r"\unit{\hour}"),
}

WITH_LIMITS = ("step_time_ms", "speedup", "relative_throughput", "overhead_ms", "time_to_accuracy_s")
"""Columns that print their interval; those of throughput and efficiency follow from them."""


def lines(column: Column) -> list[str]:
    """A header cut into lines, the unit last."""
    name, unit = HEADERS[column]
    words = name.split(" ", 1) if len(name) > len("Step time") else [name]
    return [*words, *([f"({unit})"] if unit else [])]
