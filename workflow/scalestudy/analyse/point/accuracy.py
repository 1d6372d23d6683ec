"""Whether accuracy was kept, and how long it took to reach: speed counts only where it is."""

from math import isnan, nan

import pandas as pd

from scalestudy.analyse.statistics.intervals import Interval, mean
from scalestudy.registry.codes import AccuracyKept


def compare_accuracy(
    mine: pd.Series, base: pd.Series, *, margin: float, confidence: float
) -> tuple[Interval, AccuracyKept]:
    """(mean difference of accuracy with its interval, what it shows). Both series are indexed by repeat.

    Launches of the same repeat share their seed, so they are compared in pairs: what a seed does to both cancels.
    Two one-sided paired t-tests at level 1 - confidence each: `equivalent` where the interval of the difference
    at level 2 confidence - 1 lies inside (-margin, margin). `lower` and `higher`: not equivalent, and the whole
    interval at `confidence` is beyond zero. `not_shown`: too few launches to tell, which proves nothing.
    Source: Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15.
    """
    differences = (mine - base).dropna()
    wide = mean(differences, confidence=confidence)
    narrow = mean(differences, confidence=2 * confidence - 1)
    if -margin < narrow.low and narrow.high < margin:
        return wide, AccuracyKept.EQUIVALENT
    if wide.high < 0:
        return wide, AccuracyKept.LOWER
    if wide.low > 0:
        return wide, AccuracyKept.HIGHER
    return wide, AccuracyKept.NOT_SHOWN


def time_to_accuracy(epochs: pd.DataFrame, target: float | None) -> float:
    """Seconds of training until validation accuracy first reached the target; nan where it never did.

    epochs: one launch in order, with epoch_time_s (validation excluded) and validation_accuracy. Accuracy is known
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
