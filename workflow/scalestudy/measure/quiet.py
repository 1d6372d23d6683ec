"""Which rounds of turns count: those in which no other process used the cores of the ranks.

Another process on a rank's core slows distributed steps, which wait for their slowest rank, more often than the
baseline's. So rounds continue until enough of them were quiet, or until three times as many were run. Rounds are
selected by the wait for a core, never by the ratio itself, so the selection does not favour either side.
"""

import numpy as np

MOST_WAIT = 0.05
"""Largest share of a block's time that a rank of a quiet round waits for a core in use by others. On a quiet host
blocks had up to 0.02, beside a process that shares a core 0.12 to 0.24."""
MOST_TIMES = 3
"""Largest number of rounds of a run, relative to the number in the study."""


def is_quiet(wait_shares: np.ndarray) -> np.ndarray:
    """Returns whether each round was quiet. wait_shares: maximum over blocks and ranks of each round."""
    return np.asarray(wait_shares) <= MOST_WAIT


def counted_rounds(wait_shares: np.ndarray) -> np.ndarray:
    """Returns the rounds for a run's ratio: the quiet ones, or all if there are none."""
    quiet = is_quiet(wait_shares)
    return quiet if quiet.any() else np.ones(len(quiet), dtype=bool)
