"""Whether accuracy was kept, and how long it took to reach: speed counts only where it is."""

from math import nan

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

    epochs: one launch in order, with epoch_time_s (validation excluded) and validation_accuracy. The resolution is
    an epoch, since accuracy is known at its end only.
    """
    if target is None:
        return nan
    reached = epochs["validation_accuracy"].to_numpy(dtype=float) >= target
    spent_s = epochs["epoch_time_s"].to_numpy(dtype=float).cumsum()
    return float(spent_s[reached.argmax()]) if reached.any() else nan
