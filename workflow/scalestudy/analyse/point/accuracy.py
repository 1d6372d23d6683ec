"""Whether accuracy was kept, and the time to reach a target: speed is only useful at equal accuracy."""

from collections.abc import Sequence
from fractions import Fraction
from math import isnan, lcm, nan, sqrt

import pandas as pd

from scalestudy.analyse.statistics.intervals import Interval, mean
from scalestudy.registry.codes import AccuracyKept

MOST_SAMPLES = 10**6
"""Number of held-out samples up to which a single sample can be separated from rounding errors."""
FEWEST_SAMPLES = 100
"""Smallest assumed number of held-out samples: accuracies may be multiples of a larger step by chance."""
FEWEST_RUNS = 2
"""Fewest runs whose accuracies have a range."""
UNIFORM = 1 / 12
"""Variance of a rounded number, in squares of the rounding step."""


def compare_accuracy(
    mine: pd.Series, base: pd.Series, *, margin: float, confidence: float
) -> tuple[Interval, AccuracyKept]:
    """Returns (mean difference of accuracy with its interval, conclusion). Both series are indexed by repeat.

    Runs of the same repeat share their seed, so they are compared in pairs, and the effect of the seed cancels.
    Two one-sided paired t-tests at level 1 - confidence each: `equivalent` if the interval of the difference at
    level 2 confidence - 1 is inside (-margin, margin). `lower` and `higher`: not equivalent, and the whole
    interval at `confidence` is on one side of zero. `not_shown`: inconclusive with these runs. Source: Schuirmann
    (1987), J. Pharmacokinetics and Biopharmaceutics 15.

    Accuracies are counts of held-out samples. Differences that happen to be equal in all runs do not show that
    there is no variation: their spread is at least the spread of two rounded counts.
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


def every_run(mine: pd.Series, base: pd.Series) -> str:
    """Returns 'lower' or 'higher' if every run's accuracy is below, or above, that of every run of the baseline.

    This is a fact of these runs and no test: an interval of few runs can include no difference nevertheless. ''
    with fewer than two runs of either, and otherwise.
    """
    mine, base = mine.dropna(), base.dropna()
    if min(len(mine), len(base)) < FEWEST_RUNS:
        return ""
    if mine.max() < base.min():
        return "lower"
    return "higher" if mine.min() > base.max() else ""


def resolution(accuracies: Sequence[float]) -> float:
    """Returns the smallest step between accuracies: 1 / n, if all of them are multiples of 1 / n.

    n is the number of held-out samples, or a divisor of it, and at least FEWEST_SAMPLES. If accuracies are not
    such ratios, n is far above MOST_SAMPLES, so that the step is negligible.
    """
    denominators = [Fraction(float(one)).limit_denominator(MOST_SAMPLES).denominator for one in accuracies]
    return 1 / max(FEWEST_SAMPLES, lcm(*denominators))


def time_to_accuracy(epochs: pd.DataFrame, target: float | None) -> float:
    """Returns the seconds of training until validation accuracy first reached the target; nan if it never did.

    epochs: one run in order, with epoch_time_s (validation excluded) and validation_accuracy. Accuracy is known at
    the ends of epochs, and is interpolated linearly between them. The accuracy before the first epoch is unknown:
    a target that is reached during the first epoch counts as reached at its end.
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
