"""Stopping rules: for steps within a run, rounds of its probes, and runs of a configuration.

Checking an interval repeatedly until it happens to be narrow makes it too narrow. So a run has looks on a
geometric schedule and shares its error probability among them; and the number of runs is determined once, from the
spread of the first ones, and this estimate of the spread is then kept (Stein's two stages).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log, sqrt

import numpy as np
from scipy.special import stdtrit

from scalestudy.measure.batch_means import batch_means, mser5

LOOK_GROWTH = sqrt(2)
FEWEST_ROUNDS = 3  # of probes; the spread of two is too uncertain


@dataclass(frozen=True)
class Look:
    """The result of one look at the steps of a run."""

    steps: int
    warmup_steps: int
    half_width: float
    """Relative half-width of the run's mean step time at the look's own confidence; inf if unknown."""
    enough: bool
    reason: str


@dataclass(frozen=True)
class StepRule:
    """When a run has enough steps. All counts are of steps; half_width is relative (0.01 = 1 %)."""

    half_width: float
    min_warmup_steps: int
    max_warmup_steps: int
    min_steps: int
    max_steps: int
    confidence: float = 0.95

    def looks(self) -> list[int]:
        """Returns the numbers of steady steps of the looks: min_steps, growing by sqrt(2), up to max_steps."""
        looks = [self.min_steps]
        while looks[-1] < self.max_steps:
            looks.append(min(ceil(looks[-1] * LOOK_GROWTH), self.max_steps))
        return looks

    def warmup(self, step_times_s: np.ndarray) -> int:
        """Returns the steps to drop: the result of MSER-5, limited to between the minimum and the maximum."""
        found = mser5(step_times_s)
        return min(max(found, self.min_warmup_steps), max(self.max_warmup_steps, self.min_warmup_steps))

    def look(self, step_times_s: np.ndarray) -> Look:
        """Judges the step times so far, maximum over ranks.

        1. drop the warm-up; 2. half-width of the mean by batch means, at an error probability of 1 - confidence
           shared evenly among all looks of the schedule; 3. enough if it is at most the target, or if max_steps
           were measured.
        """
        series = np.asarray(step_times_s, dtype=float)
        warmup = self.warmup(series)
        steady = series[warmup:]
        shared = 1 - (1 - self.confidence) / len(self.looks())
        width = batch_means(steady, confidence=shared).half_width if len(steady) else inf
        enough, reason = False, f"step time known to ±{100 * width:.2f} % (goal ±{100 * self.half_width:.2f} %)"
        if len(steady) < self.min_steps:
            reason = f"{len(steady)} of at least {self.min_steps} steady steps"
        elif width <= self.half_width:
            enough, reason = True, f"goal reached: {reason}"
        elif len(steady) >= self.max_steps:
            enough, reason = True, f"stopped at the limit of {self.max_steps} steady steps; {reason}"
        return Look(len(series), warmup, width, enough, reason)


def probe_looks(most: int) -> int:
    """Returns the number of looks at the rounds of probes: after FEWEST_ROUNDS and each one up to `most`."""
    return max(1, most - FEWEST_ROUNDS + 1)


def rounds_suffice(
    first_s: np.ndarray, second_s: np.ndarray, *, half_width: float, most: int, confidence: float = 0.95
) -> bool:
    """Returns whether the difference of two kinds of blocks is known to `half_width` of a step of the first kind.

    first_s, second_s: mean step times of the blocks of each round, in seconds; most: maximum number of rounds.
    Student's t on the differences within rounds, at an error probability shared evenly among all looks. Intervals
    over the rounds of a run must be at that level too.
    """
    rounds = len(first_s)
    if not FEWEST_ROUNDS <= rounds < most:
        return rounds >= most
    factor = float(stdtrit(rounds - 1, 1 - (1 - confidence) / probe_looks(most) / 2))
    spread = float(np.std(first_s - second_s, ddof=1))
    return factor * spread / sqrt(rounds) <= half_width * float(np.mean(first_s))


def launches_needed(
    step_times_s: Sequence[float], *, half_width: float, confidence: float, most: int
) -> tuple[int, float]:
    """Returns (total number of runs, relative half-width after the first ones) from the step times of the first
    ones.

    Stein's second stage: n = (t s / d)^2 with s the standard deviation of the logarithms over the first runs and t
    at their degrees of freedom, at least the number of existing runs and at most `most`. Intervals must keep this
    s and its degrees of freedom (analyse/statistics/intervals.py); then their coverage is exact for normal
    logarithms with any number of runs. Source: Stein (1945), Annals of Mathematical Statistics 16.
    """
    first = len(step_times_s)
    if first < 2:
        return max(first, most), inf
    spread = float(np.std([log(value) for value in step_times_s], ddof=1))
    factor = float(stdtrit(first - 1, 0.5 + confidence / 2))
    needed = ceil((factor * spread / half_width) ** 2)
    return min(max(first, needed), max(first, most)), factor * spread / sqrt(first)
