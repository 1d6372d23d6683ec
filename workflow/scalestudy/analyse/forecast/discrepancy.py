"""How far measurements are from every growth model, as published tables show it.

No number of sizes makes a model exact: a loader, a kernel or a clock that changes between two sizes follows none
of them. So each prediction has a discrepancy that does not shrink with the number of sizes. It grows with the
overhead of the last measured doubling and with the distance. Its scales were set so that nominal intervals keep
their confidence on published sources, each source counting as one. Other sources are held out
(tests/bench/forecasts.py).
"""

from collections.abc import Sequence
from math import log, log2, sqrt

from scalestudy.analyse.forecast.fit import Scale

AT_A_DOUBLING = 0.02
"""Relative discrepancy at a doubling beyond the largest size, after a doubling without overhead."""
OF_OVERHEAD = 1.0
"""Further discrepancy at a doubling, as a share of the overhead (log scale) of the last measured doubling."""
NOISE = 0.5
"""Scale of a fit's own error within a t distribution, whose tails are meant for the discrepancy."""
FREEDOM = 3
"""Degrees of freedom of the t distribution of a prediction."""
FASTER, SLOWER = 0.45, 1.15
"""Factors on the scale of a model's distribution below and above its prediction.

Surprises are mostly slower: a resource that saturates. No series overtakes the best model by much.
"""
WIDEST = 4.0
"""Largest ratio of the upper to the lower limit of a step time that is given as a forecast."""


def discrepancy(scales: Sequence[Scale], size: float, *, strong: bool) -> float:
    """Returns the relative discrepancy of a growth model at a size, from the overhead of the last doubling.

    It grows with the square root of the doublings beyond the largest measured size, as a sum of independent steps.
    """
    sizes = {scale.n: scale.step_time_s for scale in sorted(scales, key=lambda scale: scale.n)}
    (few, before), (many, after) = list(sizes.items())[-2:]
    ideal = before * (few / many if strong else 1.0)
    overhead = abs(log(after / ideal)) / log2(many / few)
    doublings = max(0.0, log2(size / many))
    return sqrt((AT_A_DOUBLING**2 + (OF_OVERHEAD * overhead) ** 2) * doublings)
