"""Whether the steps after warm-up are in one steady state, or have a change of level or two modes.

Also whether the device's clock fell when the steps became slower: this shows heat or power, not other work on the
host.
"""

from dataclasses import dataclass
from math import exp, isnan, nan

import numpy as np
import pandas as pd

from scalestudy.analyse.run.grid import Columns
from scalestudy.measure.batch_means import autocorrelation_time
from scalestudy.record.tables import Table

TRIMMED = 0.15  # of the series at each end, where no change is searched for
CRITICAL = 12.16  # sup-F at 1 % for one mean and 15 % trimming. Source: Andrews (2003), Econometrica 71, table I
SMALLEST_JUMP = 0.05  # relative to the level; a smaller change is irrelevant for a study of scaling
FEWEST = 20  # steps; with fewer there is no result
FEWEST_CORRELATION_TIMES = 10

MODE_SHARE = 0.10  # smallest share of the steps in each mode; fewer are hiccups, which p95 and p99 show
BETWEEN_SHARE = 0.03  # largest share of the steps between the modes
MIDDLE, MIDDLE_OF_FEW, MANY = 1 / 5, 1 / 3, 100  # of the distance between the modes
SMALLEST_GAP = 0.05  # between the modes, relative

EXPLAINED = 0.5
"""Share of a rise that the fall of the clock must explain; steps also wait for memory and each other."""


@dataclass(frozen=True)
class Jump:
    """A permanent change of level: the first step of the new level, and the factor."""

    at: int
    factor: float


@dataclass(frozen=True)
class Modes:
    """Two kinds of steps: their times (geometric means), and the share of the slow ones."""

    fast_s: float
    slow_s: float
    slow_share: float


def find_jump(values: np.ndarray) -> Jump | None:
    """Returns a change of level in a series of positive, possibly correlated values; None if there is none.

    1. logarithms; 2. of all cuts except those near the ends, the one with the largest F of two means against one,
       n D^2 w (1 - w) / s^2; 3. s^2 multiplied by the autocorrelation time of the residuals; 4. a change if F
       exceeds CRITICAL, which includes a correction for the search, and the levels differ by SMALLEST_JUMP. A
       series that is short relative to its correlation time drifts anyway and has no result.

    The autocorrelation time is the longer of two. The one of a first-order autoregression is right for few steps.
    It misses a slow drift below fast noise, as in the steps of ranks that wait for each other; the integrated one
    includes it. With the first alone 8 to 23 % of runs of this host, with randomised phases, had a change; with
    both 3 to 10 %. Source: Andrews (1993), "Tests for parameter instability", Econometrica 61.
    """
    series = np.log(np.asarray(values, dtype=float))
    count = len(series)
    if count < FEWEST:
        return None
    cuts = np.arange(int(np.ceil(TRIMMED * count)), int((1 - TRIMMED) * count) + 1)
    sums, total = np.cumsum(series)[cuts - 1], series.sum()
    differences = (total - sums) / (count - cuts) - sums / cuts
    between = differences**2 * cuts * (count - cuts) / count
    best = int(np.argmax(between))
    cut, difference = int(cuts[best]), float(differences[best])
    residuals = series - np.where(np.arange(count) < cut, series[:cut].mean(), series[cut:].mean())
    correlation = max(_correlation_time(residuals), autocorrelation_time(residuals))
    variance = float(residuals @ residuals) / (count - 2) * correlation
    too_short = count < FEWEST_CORRELATION_TIMES * correlation
    if too_short or float(between[best]) <= CRITICAL * variance or abs(difference) < SMALLEST_JUMP:
        return None
    return Jump(at=cut, factor=exp(difference))


def find_modes(values: np.ndarray) -> Modes | None:
    """Returns two kinds of steps with a gap between them; None if one mean describes all.

    1. logarithms, sorted; 2. cut in two where the sum of squares within is smallest; 3. modes if each part has
       MODE_SHARE of the steps, their means differ by SMALLEST_GAP, and the middle between the means is nearly
       empty: a single mode, skewed or not, is dense there. Few steps leave gaps by chance, so with few steps a
       wider middle must be empty.
    """
    ordered = np.sort(np.log(np.asarray(values, dtype=float)))
    count = len(ordered)
    if count < FEWEST:
        return None
    cuts = np.arange(1, count)
    low = np.cumsum(ordered)[:-1]
    high = ordered.sum() - low
    cut = int(cuts[np.argmax(low**2 / cuts + high**2 / (count - cuts))])
    fast, slow = float(ordered[:cut].mean()), float(ordered[cut:].mean())
    zone = MIDDLE if count >= MANY else MIDDLE_OF_FEW
    between = np.count_nonzero(abs(ordered - (fast + slow) / 2) < zone * (slow - fast) / 2)
    share = 1 - cut / count
    if min(share, 1 - share) < MODE_SHARE or between > BETWEEN_SHARE * count or slow - fast < SMALLEST_GAP:
        return None
    return Modes(fast_s=exp(fast), slow_s=exp(slow), slow_share=share)


def _correlation_time(residuals: np.ndarray) -> float:
    """Returns (1 + r) / (1 - r) of a first-order autoregression, with r corrected for the two subtracted means.

    The correction for one mean is (1 + 3 r) / n: Kendall (1954), Biometrika 41; a cut that was searched for
    removes more.
    """
    count, power = len(residuals), float(residuals @ residuals)
    if power == 0:
        return 1.0
    found = float(residuals[1:] @ residuals[:-1]) / power
    corrected = min(max(found + 2 * (1 + 3 * max(found, 0)) / count, 0.0), 0.95)
    return (1 + corrected) / (1 - corrected)


def clock_change(blocks: Table | Columns, at_step: float) -> float:
    """Returns the relative change of the clock from the blocks before a step to those after it, mean over ranks.

    blocks: of one run. It is the GPU's clock if it was read, otherwise the cores'; nan if neither was read on both
    sides, or `at_step` is nan.
    """
    if isnan(at_step):
        return nan
    columns = Columns(blocks)
    measured = columns.among("phase", ("measured",))
    clocks = (columns[name][measured].astype(float) for name in ("gpu_sm_clock_mhz", "cpu_clock_mhz"))
    clock = next((read for read in clocks if not np.isnan(read).all()), np.empty(0))
    first, steps = columns["first_step"][measured], columns["steps"][measured]
    if not len(clock):
        return nan
    before, after = (_mean(clock[at]) for at in (first + steps <= at_step, first >= at_step))
    return after / before - 1 if before > 0 else nan


def _mean(values: np.ndarray) -> float:
    """Returns the mean of the known values; nan if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else nan


def throttled(level_change: pd.Series, clock_change: pd.Series) -> pd.Series:
    """Returns for each run whether its steps became slower because the clock fell.

    Work that is limited by the clock takes 1 + f times as long at 1 / (1 + f) of the clock.
    """
    fall = -level_change / (1 + level_change)
    return (level_change > 0) & (clock_change <= EXPLAINED * fall)
