"""What published scaling series reach in a node, for context next to a diagnosis. No verdict rests on it."""

from typing import NamedTuple

from scalestudy.diagnose.case import Case
from scalestudy.registry.words.percent import percent


class Published(NamedTuple):
    """Efficiencies of published series, relative to one device; of each source the median."""

    sources: int
    quarter: float
    """A quarter of the sources is below."""
    median: float
    three_quarters: float


PUBLISHED = {
    ("strong", 2): Published(52, 0.79, 0.88, 0.96),
    ("strong", 4): Published(52, 0.57, 0.77, 0.87),
    ("strong", 8): Published(32, 0.37, 0.66, 0.84),
    ("weak", 2): Published(43, 0.83, 0.94, 0.99),
    ("weak", 4): Published(46, 0.73, 0.91, 0.97),
    ("weak", 8): Published(29, 0.80, 0.91, 0.94),
}
"""(scaling, devices of one node) -> efficiencies of the series in tests/data. Most are trainings on GPUs, some are
other computations. `python -m bench.usual_efficiency` prints them."""


def usual(case: Case) -> tuple[str, ...]:
    """A phrase with the efficiency of published series on as many devices of a node; () where none are known.

    There are none for CPUs, for other numbers of devices, and relative to a baseline of several devices.
    """
    point = case.point
    known = PUBLISHED.get((point["scaling"], case.ranks))
    if known is None or point["device"] == "cpu" or case.base_ranks > 1 or point["nodes"] > 1:
        return ()
    return (
        f"published series of {point['scaling']} scaling have a median efficiency of {percent(known.median)} on"
        f" {case.ranks} devices of a node; half of the {known.sources} sources are between"
        f" {percent(known.quarter)} and {percent(known.three_quarters)}",
    )
