"""Whether the interval of a part of a step says anything about it, and how many repeats would make it do so.

A part is not resolved if its interval includes both no effect and an effect of SHARE of the whole: the part may
then be irrelevant, and it may decide the verdict. To exclude the first is a significant difference. To exclude
the second is an equivalence test. Source: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15.
"""

from functools import lru_cache
from math import isnan

import numpy as np

from scalestudy.analyse.statistics.intervals import Interval

SHARE = 0.10
"""Smallest effect that counts, as a share of the whole: from here on lost time has a cause that is named
(`diagnose/causes`)."""
MOST_REPEATS = 10_000
"""Largest number of repeats that is computed."""


def is_resolved(part: Interval, whole: float = 1.0) -> bool:
    """Returns whether an interval excludes no effect (0), or any effect of SHARE of the whole.

    True without limits: such a value makes no claim of precision.
    """
    if isnan(part.low) or isnan(part.high) or part.leaves_out(0):
        return True
    return max(-part.low, part.high) < SHARE * whole


def repeats_to_resolve(part: Interval, whole: float = 1.0, *, repeats: int, confidence: float) -> int | None:
    """Returns the number of repeats at which the interval of an unresolved part is expected to be narrow enough.

    None without at least two repeats, or if the number is above MOST_REPEATS. The value and the spread are taken
    as measured, and the interval is Student's, so the half-width after n repeats is proportional to
    t(n - 1) / sqrt(n). It must be below |value|, or below SHARE of the whole minus |value|.
    """
    half_width = max(part.high - part.value, part.value - part.low)
    if repeats < 2 or isnan(half_width):
        return None
    widths = _relative_widths(confidence)
    needed = max(abs(part.value), SHARE * whole - abs(part.value))
    enough = np.flatnonzero(widths < needed / half_width * widths[repeats - 2]) + 2
    enough = enough[enough > repeats]
    return int(enough[0]) if len(enough) else None


@lru_cache
def _relative_widths(confidence: float) -> np.ndarray:
    """Returns t(n - 1) / sqrt(n) for n = 2, 3, ..., MOST_REPEATS."""
    from scipy.special import stdtrit  # takes longer to import than some documents to write

    repeats = np.arange(2, MOST_REPEATS + 1)
    return np.asarray(stdtrit(repeats - 1, 0.5 + confidence / 2) / np.sqrt(repeats))


def lost(kept: Interval) -> Interval:
    """Returns the loss that belongs to a share that is kept: 1 minus it."""
    return kept.falling(lambda share: 1 - share)
