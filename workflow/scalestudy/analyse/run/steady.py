"""Whether what remains after warm-up is one steady state: a jump in its level, or two modes.

And whether the device's clock fell where the steps became slower: heat or power, and not other work on the host.
"""

from dataclasses import dataclass
from math import exp, isnan, nan

import numpy as np
import pandas as pd

from scalestudy.analyse.run.grid import Columns
from scalestudy.measure.batch_means import autocorrelation_time
from scalestudy.record.tables import Table

TRIMMED = 0.15  # of the series at each end, where a jump is not looked for
CRITICAL = 12.16  # sup-F at 1 % for one mean and 15 % trimming. Source: Andrews (2003), Econometrica 71, table I
SMALLEST_JUMP = 0.05  # of the level; a smaller one is no matter for a study of scaling
FEWEST = 20  # steps; with fewer nothing is said
FEWEST_CORRELATION_TIMES = 10

MODE_SHARE = 0.10  # of the steps in each mode at the least; fewer are hiccups, which p95 and p99 show
BETWEEN_SHARE = 0.03  # of the steps between the modes at the most
MIDDLE, MIDDLE_OF_FEW, MANY = 1 / 5, 1 / 3, 100  # of the distance between the modes
SMALLEST_GAP = 0.05  # between the modes, relative

EXPLAINED = 0.5
"""Share of a rise that the fall of the clock has to account for; steps wait for memory and each other, too."""


@dataclass(frozen=True)
class Jump:
    """The level changed for good: from which step of the series on, and by which factor."""

    at: int
    factor: float


@dataclass(frozen=True)
class Modes:
    """Two kinds of steps: their times, geometric means, and the share of the slow ones."""

    fast_s: float
    slow_s: float
    slow_share: float


def find_jump(values: np.ndarray) -> Jump | None:
    """A change of level in a series of positive, perhaps correlated values; None where there is none to speak of.

    1. logarithms; 2. of all cuts but those near the ends, the one with the largest F of two means against one, n
    D^2 w (1 - w) / s^2; 3. s^2 widened by the autocorrelation time of the residuals; 4. a jump if F passes
    CRITICAL, which allows for having searched, and the levels differ by SMALLEST_JUMP. A series that is short
    against its correlation wanders anyway: nothing is said of it.

    The autocorrelation time is the longer of two. That of a first-order autoregression is right for few steps. It
    does not see a slow wander below fast noise, which is how steps of ranks that wait for each other look: the
    integrated one does. With the first alone 8 to 23 % of runs of this host, their phases made random, had a
    jump; with both 3 to 10 %.
    Source: Andrews (1993), "Tests for parameter instability", Econometrica 61.
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
    """Two kinds of steps with a gap between them; None where one mean describes all.

    1. logarithms, sorted; 2. cut in two where the sum of squares within is smallest; 3. modes if each part holds
    MODE_SHARE of the steps, their means differ by SMALLEST_GAP, and the middle between the means is all but empty:
    there a single mode, skewed or not, is dense. Few steps leave gaps by chance, so a wider middle has to be
    empty.
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
    """(1 + r) / (1 - r) of a first-order autoregression, r corrected for the two means that were taken off.

    The correction of one mean is (1 + 3 r) / n: Kendall (1954), Biometrika 41; a cut that was searched takes off
    more.
    """
    count, power = len(residuals), float(residuals @ residuals)
    if power == 0:
        return 1.0
    found = float(residuals[1:] @ residuals[:-1]) / power
    corrected = min(max(found + 2 * (1 + 3 * max(found, 0)) / count, 0.0), 0.95)
    return (1 + corrected) / (1 - corrected)


def clock_change(blocks: Table | Columns, at_step: float) -> float:
    """Relative change of the clock from the blocks before a step to those from it on, the mean over ranks.

    blocks: of one run. Of the GPU where it was read, else of the cores; nan where neither was on both sides, or
    `at_step` is nan.
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
    """Of those that are known; nan where none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else nan


def throttled(level_change: pd.Series, clock_change: pd.Series) -> pd.Series:
    """For each run whether its steps became slower, by a clock that fell.

    Work that is bound by the clock takes 1 + f times as long at 1 / (1 + f) of it.
    """
    fall = -level_change / (1 + level_change)
    return (level_change > 0) & (clock_change <= EXPLAINED * fall)
