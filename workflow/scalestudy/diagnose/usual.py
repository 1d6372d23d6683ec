"""What published trainings reach in a node, for context next to a diagnosis. No verdict rests on it."""

from typing import NamedTuple

from scalestudy.diagnose.case import Case
from scalestudy.registry.words.percent import percent


class Published(NamedTuple):
    """Efficiencies of published trainings, relative to one GPU; of each source the median."""

    sources: int
    quarter: float
    """A quarter of the sources is below."""
    median: float
    three_quarters: float


PUBLISHED = {
    ("strong", 2): Published(11, 0.69, 0.88, 0.96),
    ("strong", 4): Published(10, 0.50, 0.69, 0.85),
    ("weak", 2): Published(34, 0.90, 0.94, 0.98),
    ("weak", 4): Published(36, 0.79, 0.91, 0.96),
    ("weak", 8): Published(23, 0.84, 0.92, 0.95),
}
"""(scaling, GPUs of a node) -> efficiencies of published trainings, where there are ten sources or more.
`python -m bench.usual_efficiency` computes them from the series in tests/data."""


def usual(case: Case) -> tuple[str, ...]:
    """A phrase with the efficiency of published trainings on as many GPUs of a node; () where none are known.

    There are none for CPUs, for other numbers of GPUs, and relative to a baseline of several GPUs.
    """
    point = case.point
    known = PUBLISHED.get((point["scaling"], case.ranks))
    if known is None or point["device"] == "cpu" or case.base_ranks > 1 or point["nodes"] > 1:
        return ()
    return (
        f"published trainings with {point['scaling']} scaling have a median efficiency of {percent(known.median)}"
        f" on {case.ranks} GPUs of a node; half of the {known.sources} sources are between"
        f" {percent(known.quarter)} and {percent(known.three_quarters)}",
    )
