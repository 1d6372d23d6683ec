"""Whether accuracy was kept, and how long it took to reach: speed counts only where it is."""

from collections.abc import Sequence
from fractions import Fraction
from math import isnan, lcm, nan, sqrt

import pandas as pd

from scalestudy.analyse.statistics.intervals import Interval, mean
from scalestudy.registry.codes import AccuracyKept

MOST_SAMPLES = 10**6
"""Held-out samples of which a single one is told from rounding of the machine."""
FEWEST_SAMPLES = 100
"""Held-out samples that are there at least. A few accuracies may be whole numbers over less by chance."""
UNIFORM = 1 / 12
"""Variance of a rounded number, in squares of the step that it is rounded to."""


def compare_accuracy(
    mine: pd.Series, base: pd.Series, *, margin: float, confidence: float
) -> tuple[Interval, AccuracyKept]:
    """(mean difference of accuracy with its interval, what it shows). Both series are indexed by repeat.

    Runs of the same repeat share their seed, so they are compared in pairs: what a seed does to both cancels.
    Two one-sided paired t-tests at level 1 - confidence each: `equivalent` where the interval of the difference
    at level 2 confidence - 1 lies inside (-margin, margin). `lower` and `higher`: not equivalent, and the whole
    interval at `confidence` is beyond zero. `not_shown`: too few runs to tell, which proves nothing.
    Source: Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15.

    Accuracies are counts of held-out samples. Differences that happen to be the same in all runs do not show
    that nothing scatters: their spread counts as at least that of two counts that are rounded.
    """
    differences = (mine - base).dropna()
    step = resolution([*mine[differences.index], *base[differences.index]])
    least = step * sqrt(2 * UNIFORM)
    wide = mean(differences, confidence=confidence, least_spread=least)
    narrow = mean(differences, confidence=2 * confidence - 1, least_spread=least)
    if -margin < narrow.low and narrow.high < margin:
        return wide, AccuracyKept.EQUIVALENT
    if wide.high < 0:
        return wide, AccuracyKept.LOWER
    if wide.low > 0:
        return wide, AccuracyKept.HIGHER
    return wide, AccuracyKept.NOT_SHOWN


def resolution(accuracies: Sequence[float]) -> float:
    """The smallest step that accuracies show: 1 / n, where all of them are whole numbers over the same n.

    n is the number of held-out samples, or a divisor of it, and counts as FEWEST_SAMPLES at least. It is far above
    MOST_SAMPLES where they are no such ratios, so that the step is next to nothing.
    """
    denominators = [Fraction(float(one)).limit_denominator(MOST_SAMPLES).denominator for one in accuracies]
    return 1 / max(FEWEST_SAMPLES, lcm(*denominators))


def time_to_accuracy(epochs: pd.DataFrame, target: float | None) -> float:
    """Seconds of training until validation accuracy first reached the target; nan where it never did.

    epochs: one run in order, with epoch_time_s (validation excluded) and validation_accuracy. Accuracy is known
    at the ends of epochs, and is taken to be linear between two of them. What the network had before the first
    epoch is not known: a target that is reached in it is reached at its end.
    """
    if target is None:
        return nan
    accuracy = epochs["validation_accuracy"].to_numpy(dtype=float)
    spent_s = epochs["epoch_time_s"].to_numpy(dtype=float).cumsum()
    reached = accuracy >= target
    if not reached.any():
        return nan
    first = int(reached.argmax())
    known = accuracy[first - 1] if first else nan
    if isnan(known):
        return float(spent_s[first])
    part = (target - known) / (accuracy[first] - known)
    return float(spent_s[first - 1] + part * (spent_s[first] - spent_s[first - 1]))
