"""Names of things as figures and tables print them, in one place so that they agree."""

from __future__ import annotations

from scalestudy.study.plan import Point


def ranks(count: int) -> str:
    """'1 rank', '2 ranks'."""
    return f"{count} rank" if count == 1 else f"{count} ranks"


def cores(count: int) -> str:
    """'1 CPU core', '2 CPU cores'."""
    return f"{count} CPU core" if count == 1 else f"{count} CPU cores"


def series(point: Point) -> str:
    """A point as a legend says it: 'single, one process, batch 32', 'ddp strong, 2 ranks, batch 16 per rank'."""
    if point.world_size == 1:
        return f"{point.variant}, one process, batch {point.batch_per_rank}"
    return f"{point.variant} {point.scaling}, {ranks(point.world_size)}, batch {point.batch_per_rank} per rank"


def intervals(*, confidence: float, repeats: int) -> str:
    """The sentence that says what the intervals are."""
    if repeats < 2:
        return "One launch of each point, so there are no intervals."
    return (
        f"Geometric means over {repeats} launches; intervals at {confidence:.0%} confidence"
        " (Student's t on logarithms, Welch's for ratios)."
    )
