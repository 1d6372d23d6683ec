"""The tables of a paper: their files, captions and columns, named as the config names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scalestudy.registry.points import PARTS, QUANTITIES, SPLIT

if TYPE_CHECKING:
    Column = str
else:
    Column = Literal[tuple(name for name, column in QUANTITIES.items() if column.printed.header)]
"""A quantity that a table can have as a column; its name includes the unit."""

Table = Literal[
    "summary", "strong_scaling", "weak_scaling", "step_breakdown", "memory", "variants", "ddp_fsdp", "proposal"
]


@dataclass(frozen=True)
class TableEntry:
    """A table of points."""

    about: str
    """The beginning of its caption."""
    columns: tuple[Column, ...]
    """Default columns. A column without any number is left out."""
    file: str = ""
    """File name without its suffix, if it differs from the table's name."""
    names_scaling: bool = True
    """Whether rows have the kind of scaling."""


_MEASURED: tuple[Column, ...] = (
    "ranks",
    "batch_per_rank",
    "step_time_ms",
    "step_time_p95_ms",
    "throughput_samples_per_s",
    "speedup",
    "efficiency_percent",
)
_BESIDE = ("ranks", "step_time_ms", "throughput_samples_per_s", "relative_throughput")

TABLES: dict[Table, TableEntry] = {
    "summary": TableEntry(
        "Scaling of study {study}.",
        (*_MEASURED, "energy_per_sample_j", "cpu_energy_per_sample_j"),
        file="summary_table",
    ),
    "strong_scaling": TableEntry(
        "Strong scaling of study {study}: fixed global batch.",
        (*_MEASURED, "per_doubling_efficiency_percent"),
        names_scaling=False,
    ),
    "weak_scaling": TableEntry(
        "Weak scaling of study {study}: fixed batch per rank.",
        (*_MEASURED, "per_doubling_efficiency_percent"),
        names_scaling=False,
    ),
    "step_breakdown": TableEntry(
        "Parts of the step time in study {study}: means over steady steps, ranks and runs, in the order of"
        " a step; exposed communication is part of the backward pass.",
        ("ranks", *(f"{part}_ms" for part in PARTS if part != SPLIT[0])),
    ),
    "memory": TableEntry(
        "Peak memory per rank (maximum over ranks) in study {study}.",
        (
            "ranks",
            "batch_per_rank",
            "parameters",
            "peak_allocated_gib",
            "peak_reserved_gib",
            "peak_resident_gib",
        ),
    ),
    "variants": TableEntry(
        "Variants of study {study} with the same work at the same place, each relative to the first of its group.",
        (*_BESIDE, "accuracy_percent"),
    ),
    "ddp_fsdp": TableEntry(
        "Strategies of study {study} with the same work at the same place, each relative to the first of its"
        " group.",
        (*_BESIDE, "peak_allocated_gib", "peak_resident_gib"),
    ),
    "proposal": TableEntry(
        "Scaling of study {study}, with the cost of a million samples in device-hours.",
        (
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
            "energy_per_sample_j",
        ),
    ),
}
FILES: dict[Table, str] = {name: entry.file or name for name, entry in TABLES.items()}
"""The file of a table, without its suffix."""

VERIFICATION = "verification"
"""The table of tried advice; only a study whose advice was tried has it."""
NAMES = (*FILES.values(), "environment", "provenance")
"""All files of tables/, also those that are not tables of numbers."""
