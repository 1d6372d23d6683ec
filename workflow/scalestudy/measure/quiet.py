"""Which rounds of turns count: those in which nobody else took the cores of the ranks.

Another process on a rank's core slows distributed steps, which wait for their slowest rank, more often than those
of the baseline. So rounds go on until enough of them were quiet, or until three times as many were made. What is
looked at is the wait for a core, never the ratio itself: choosing rounds so does not favour either side.
"""

import numpy as np

MOST_WAIT = 0.05
"""Of a block's time that a rank waited for a core which others had. On a quiet host blocks had up to 0.02, beside
a process that shares a core 0.12 to 0.24."""
MOST_TIMES = 3
"""Times the rounds that the study asks for: a run makes no more."""


def is_quiet(wait_shares: np.ndarray) -> np.ndarray:
    """Whether each round was quiet. wait_shares: the largest over blocks and ranks of each round."""
    return np.asarray(wait_shares) <= MOST_WAIT


def counted_rounds(wait_shares: np.ndarray) -> np.ndarray:
    """Which rounds a run's ratio is made of: the quiet ones, or all where there are none."""
    quiet = is_quiet(wait_shares)
    return quiet if quiet.any() else np.ones(len(quiet), dtype=bool)
