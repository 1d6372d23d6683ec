"""Names that figures and tables print, in one place so that they agree."""

from collections.abc import Container, Iterable, Sequence

from scalestudy.registry.codes import IntervalMethod
from scalestudy.registry.column import Row
from scalestudy.registry.words.percent import percent, percent_digits
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Point


def counted(number: int | str, word: str) -> str:
    """'1 rank', '2 ranks'."""
    return f"{number} {word}" if str(number) == "1" else f"{number} {word}s"


def ranks(count: int, nodes: int = 1) -> str:
    """'1 rank', '2 ranks', '4 ranks on 2 nodes'."""
    return counted(count, "rank") + (f" on {nodes} nodes" if nodes > 1 else "")


def places(found: Iterable[tuple[int, int]]) -> str:
    """(ranks, nodes) grouped by nodes: '2 and 4 ranks, 4 and 8 ranks on 2 nodes'."""
    by_nodes: dict[int, list[int]] = {}
    for count, nodes in sorted(found, key=lambda place: place[::-1]):
        by_nodes.setdefault(nodes, []).append(count)
    said = [listed([*map(str, counts[:-1]), ranks(counts[-1], nodes)]) for nodes, counts in by_nodes.items()]
    return ", ".join(said)


def listed(words: Sequence[str]) -> str:
    """'A', 'A and B', 'A, B and C'."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def points(fraction: float) -> str:
    """A difference of percentages, from a fraction: '1 point', '0.5 points'."""
    return counted(f"{100 * fraction:g}", "point")


def series(point: Point) -> str:
    """A point in a legend: 'single, one process, batch 32', 'ddp strong, 2 ranks, batch 16 per rank'."""
    if point.world_size == 1:
        return f"{point.variant}, one process, batch {point.batch_per_rank}"
    where = ranks(point.world_size, point.nodes)
    return f"{point.variant} {point.scaling}, {where}, batch {point.batch_per_rank} per rank"


def place(row: Row) -> str:
    """Where a point was measured: '4 ranks on 2 nodes, batch 16 per rank'."""
    return f"{ranks(int(row['world_size']), int(row['nodes']))}, batch {int(row['batch_per_rank'])} per rank"


def point(row: Row) -> str:
    """'ddp strong, 2 ranks, batch 16 per rank'."""
    return f"{row['variant']} {row['scaling']}, {place(row)}"


def row(row: Row) -> str:
    """The same, without the scaling if it is one process: 'single, 1 rank, batch 32 per rank'."""
    return f"{row['variant']}, {place(row)}" if row["world_size"] == 1 else point(row)


def runs_each(counts: Iterable[int]) -> str:
    """The number of runs of a point: '3 runs', '3 to 6 runs', 'one run'. counts: of all points; 0 are left out."""
    known = sorted({int(count) for count in counts} - {0})
    if not known or known[-1] == 1:
        return "one run" if known else "no run"
    return f"{known[0]} runs" if len(known) == 1 else f"{known[0]} to {known[-1]} runs"


def intervals(study: Study, methods: Container[object], counts: Iterable[int]) -> str:
    """The sentence that describes the intervals. methods: those of the speedups. counts: runs of each point."""
    if study.repeats < 2:
        return "One run per point, so there are no intervals."
    if study.imported:
        return (
            f"Geometric means over the imported runs of a point; intervals at {percent(study.report.confidence)}"
            " confidence, where a point has several (Student's t on logarithms; Welch's interval for ratios)."
            " Runs are independent samples: nobody ran them in repeats, so drift between them is part of the"
            " interval."
        )
    several = len(study.looks) > 1
    more = study.most_repeats > study.repeats
    two_stage = f"; spread from the first {study.repeats}" if more and not several else ""
    speedups = ""
    if IntervalMethod.HIERARCHICAL_BOOTSTRAP in methods:
        speedups += "; hierarchical bootstrap for speedups"
    if IntervalMethod.T_WITHIN_LAUNCHES in methods:
        speedups += "; speedups within runs, where the baseline and the ranks take turns in the same processes"
    shared = ""
    if several:
        looks = listed([str(look) for look in study.looks])
        shared = (
            f" Verdicts are checked after {looks} runs. Each interval has a level of"
            f" {percent_digits(study.level, 4)}, so that all checks together have"
            f" {percent(study.report.confidence)}."
        )
    return (
        f"Geometric means over {runs_each(counts)}; intervals at {percent(study.report.confidence)} confidence"
        f" (Student's t on logarithms; ratios and differences within repeats{two_stage}{speedups}).{shared}"
    )
