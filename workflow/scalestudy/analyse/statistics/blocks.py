"""Comparisons within blocks. The runs of one repeat are a block: they follow each other in time.

A host that is slow for a while slows all runs of a block. This effect is common to both sides of a difference
within the block, so it cancels; between independent samples it would count as noise. Source: Box, Hunter and
Hunter (2005), "Statistics for Experimenters", chapter 3 (paired comparisons).
"""

from math import nan

import numpy as np
import pandas as pd

from scalestudy.analyse.statistics.intervals import NOTHING, ROUNDING, Interval, Sample, from_log, mean

FEWEST_FOR_SHARED = 5
"""Number of blocks from which the shared variance is printed: with three its limits are about -97 and 97 %."""


def differences(mine: pd.Series, other: pd.Series, *, planned: int, rounding: float = 0.0) -> Sample:
    """Returns `mine` minus `other` in each block that has both. Both series are indexed by block, counted from 1.

    A block without either side is left out. Blocks up to `planned` were planned from the start; only these
    determine the spread (see Sample). rounding: ROUNDING for logarithms.
    """
    found = (mine - other).dropna().sort_index()
    values, first = found.to_numpy(dtype=float), found.index.to_numpy() <= planned
    return Sample(values, None if first.all() else values[first], rounding)


def difference_in_blocks(
    mine: pd.Series, other: pd.Series, *, planned: int, confidence: float, rounding: float = 0.0
) -> Interval:
    """Returns the mean difference within blocks with Student's t interval, over the blocks with both sides.

    No limits with fewer than two such blocks. Without any, the difference of the two means, without limits.
    rounding: as in `differences`.
    """
    within = differences(mine, other, planned=planned, rounding=rounding)
    if len(within.values):
        return mean(within, confidence=confidence)
    return Interval(float(mine.mean() - other.mean())) if len(mine) and len(other) else NOTHING


def ratio_in_blocks(above: pd.Series, below: pd.Series, *, planned: int, confidence: float) -> Interval:
    """Returns the ratio of geometric means with Student's t interval on differences of logarithms within blocks.

    n - 1 degrees of freedom for n blocks; variances are not pooled with those of other ratios. Raises ValueError
    if a value is not positive.
    """
    logs = [_logs(series) for series in (above, below)]
    within = difference_in_blocks(*logs, planned=planned, confidence=confidence, rounding=ROUNDING)
    return within.map(from_log)


def shared_variance(mine: pd.Series, other: pd.Series, *, confidence: float) -> Interval:
    """Returns the part of the variance between runs that the two runs of a block have in common.

    2 cov(a, b) / (var a + var b) of logarithms: the intraclass correlation. It is the part that a comparison
    within blocks removes: 1 if all of the spread is drift of the host, 0 if none is; it may be below 0 by chance.
    Limits are exact for equal variances, from Fisher's F with n - 1 and n - 1 degrees of freedom. NOTHING with
    fewer than FEWEST_FOR_SHARED blocks with both sides, or without any spread. Source: Fisher (1925), "Statistical
    Methods for Research Workers", chapter 7.
    """
    a, b = _logs(mine).align(_logs(other), join="inner")
    blocks = len(a)
    if blocks < FEWEST_FOR_SHARED:
        return NOTHING
    of_sum, of_difference = _variance(a + b), _variance(a - b)
    if of_sum + of_difference == 0:
        return NOTHING
    share = (of_sum - of_difference) / (of_sum + of_difference)
    if of_difference == 0:
        return Interval(share, nan, nan)
    from scipy.special import fdtri

    quantile = float(fdtri(blocks - 1, blocks - 1, 0.5 + confidence / 2))
    low, high = (of_sum / of_difference * factor for factor in (1 / quantile, quantile))
    return Interval(share, (low - 1) / (low + 1), (high - 1) / (high + 1))


def _variance(logs: pd.Series) -> float:
    """The variance of sums or differences of logarithms; exactly 0 if they differ by rounding alone."""
    return 0.0 if np.ptp(logs.to_numpy()) <= ROUNDING else float(logs.var())


def _logs(values: pd.Series) -> pd.Series:
    values = values.dropna().astype(float)
    if (values <= 0).any():
        raise ValueError(f"a positive quantity has a value of {values.min()}")
    return pd.Series(np.log(values.to_numpy()), index=values.index)
