"""Names of things as figures and tables print them, in one place so that they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scalestudy.registry.column import Row
from scalestudy.study.plan import Point


def ranks(count: int, nodes: int = 1) -> str:
    """'1 rank', '2 ranks', '4 ranks on 2 nodes'."""
    return (f"{count} rank" if count == 1 else f"{count} ranks") + on_nodes(nodes)


def on_nodes(nodes: int) -> str:
    """' on 2 nodes'; '' for one."""
    return f" on {nodes} nodes" if nodes > 1 else ""


def places(found: Iterable[tuple[int, int]]) -> str:
    """(ranks, nodes) by nodes: '2 and 4 ranks, 4 and 8 ranks on 2 nodes'."""
    by_nodes: dict[int, list[int]] = {}
    for count, nodes in sorted(found, key=lambda place: place[::-1]):
        by_nodes.setdefault(nodes, []).append(count)
    said = []
    for nodes, counts in by_nodes.items():
        said.append(listed([*map(str, counts[:-1]), ranks(counts[-1], nodes)]))
    return ", ".join(said)


def listed(words: Sequence[str]) -> str:
    """'A', 'A and B', 'A, B and C'."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def cores(count: int) -> str:
    """'1 CPU core', '2 CPU cores'."""
    return f"{count} CPU core" if count == 1 else f"{count} CPU cores"


def micro_batches(count: int, size: int) -> str:
    """'4 micro-batches of 2'; '' where a batch is passed as a whole."""
    return f"{count} micro-batches of {size}" if count > 1 else ""


def points(fraction: float) -> str:
    """A difference of percentages: '1 point', '0.5 points'."""
    number = f"{100 * fraction:g}"
    return f"{number} point" if number == "1" else f"{number} points"


def series(point: Point) -> str:
    """A point as a legend says it: 'single, one process, batch 32', 'ddp strong, 2 ranks, batch 16 per rank'."""
    if point.world_size == 1:
        return f"{point.variant}, one process, batch {point.batch_per_rank}"
    where = ranks(point.world_size, point.nodes)
    return f"{point.variant} {point.scaling}, {where}, batch {point.batch_per_rank} per rank"


def row(row: Row) -> str:
    """A row of the summary: 'single, 1 rank, batch 32 per rank', 'ddp strong, 2 ranks, batch 16 per rank'."""
    scaling = "" if row["world_size"] == 1 else f" {row['scaling']}"
    where = ranks(int(row["world_size"]), int(row["nodes"]))
    return f"{row['variant']}{scaling}, {where}, batch {int(row['batch_per_rank'])} per rank"


def intervals(*, confidence: float, repeats: int, most_repeats: int, bootstrap: bool) -> str:
    """The sentence that says what the intervals are. bootstrap: whether a speedup has limits of that kind."""
    if repeats < 2:
        return "One launch of each point, so there are no intervals."
    launches = f"{repeats}" if most_repeats == repeats else f"{repeats} to {most_repeats}"
    speedups = "; of speedups a hierarchical bootstrap" if bootstrap else ""
    two_stage = "" if most_repeats == repeats else f"; spread from the first {repeats}"
    return (
        f"Geometric means over {launches} launches; intervals at {confidence:.0%} confidence"
        f" (Student's t on logarithms, Welch's for ratios{two_stage}{speedups})."
    )
