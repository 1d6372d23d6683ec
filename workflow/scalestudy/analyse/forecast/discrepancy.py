"""How far measurements are from every growth model, as published tables show it.

No number of sizes makes a model exact: a loader, a kernel or a clock that changes between two sizes follows none
of them. So each prediction has a discrepancy that does not shrink with the number of sizes. It grows with the
overhead of the last measured doubling, with the scatter of the overheads, and with the distance. It differs
between the faster and the slower side, since a resource that saturates makes a size slower than any model.

The constants are calibrated on published tables by conformal quantiles with sources as units, and
`python -m bench.forecast_constants` (in tests/) computes them again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log2, sqrt
from statistics import variance

from scalestudy.analyse.forecast.fit import Scale


@dataclass(frozen=True)
class Side:
    """The discrepancy on one side of a prediction."""

    floor: float
    """Overhead (log scale) that a doubling is assumed to have at least."""
    share: float
    """Scale of the t distribution at a doubling beyond the largest size, as a share of the overhead."""


@dataclass(frozen=True)
class Sides:
    """Both sides of a prediction: a shorter step time and a longer one."""

    faster: Side
    slower: Side


# Printed by bench.forecast_constants: 611 published series of 239 sources.
IN_A_NODE = Sides(Side(0.12, 0.067), Side(0.18, 0.69))
ACROSS_NODES = Sides(Side(0.18, 0.044), Side(0.18, 0.45))
NOISE = 0.5
"""Scale of a fit's own error within a t distribution, whose tails are meant for the discrepancy."""
FREEDOM = 3
"""Degrees of freedom of the t distribution of a prediction."""
WIDEST = 4.0
"""Largest ratio of the upper to the lower limit of a step time that is given as a forecast."""


def discrepancy(scales: Sequence[Scale], size: float, side: Side, *, strong: bool) -> float:
    """Returns the overhead (log scale) of which a side's share is the discrepancy at a size.

    It is that of the last measured doubling, the standard deviation between the measured doublings, and the
    floor, added in quadrature: a series that was irregular stays irregular, however many sizes are known. It grows
    with the square root of the doublings beyond the largest measured size, as a sum of independent steps.
    """
    sizes = list({scale.n: scale.step_time_s for scale in sorted(scales, key=lambda scale: scale.n)}.items())
    overheads = [
        log(after / (before * (few / many if strong else 1.0))) / log2(many / few)
        for (few, before), (many, after) in pairwise(sizes)
    ]
    scatter = variance(overheads) if len(overheads) > 1 else 0.0
    return sqrt((side.floor**2 + overheads[-1] ** 2 + scatter) * doublings_away([n for n, _ in sizes], size))


def doublings_away(sizes: Sequence[float], size: float) -> float:
    """Returns the doublings beyond the largest size; between two sizes, those of a bridge.

    A sum of independent steps that is known at both ends has a variance of a b / (a + b) in between, a and b
    doublings away from the ends. It is 0 at a size that was measured, and below the smallest one.
    """
    if size >= sizes[-1]:
        return log2(size / sizes[-1])
    for few, many in pairwise(sizes):
        if few <= size <= many:
            return log2(size / few) * log2(many / size) / log2(many / few)
    return 0.0
