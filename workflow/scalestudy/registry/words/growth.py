"""Memory that grows while training is steady."""

from __future__ import annotations

from scalestudy.registry.column import Row


def memory_growth(row: Row) -> str:
    """'resident memory of rank 0 grows by 0.1 GiB [0.09, 0.11] in 1000 steps'; '' where no launch grows.

    row: of the summary. Of the first launch that grows.
    """
    if not row["launches_growing"]:
        return ""
    slope, low, high = (row[f"memory_growth_gib_per_1000_steps{end}"] for end in ("", "_low", "_high"))
    return (
        f"{row['memory_growth_kind']} memory of rank {int(row['memory_growth_rank'])} grows by {slope:.2g} GiB"
        f" [{low:.2g}, {high:.2g}] in 1000 steps"
    )
