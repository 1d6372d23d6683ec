"""Time limits of a run. They are not part of its spec, so another limit does not repeat a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

WRITING_S = 60
"""Seconds that a run reserves for writing its record before its allocation ends."""


@dataclass(frozen=True)
class Limits:
    """The time limits of one run."""

    time_limit_min: float = 30
    """Minutes for the whole run."""
    start_limit_s: float = 300
    """Seconds for all of its nodes to start and meet."""
    stall_limit_s: float = 300
    """Seconds without progress after which a rank ends the run."""
    quiet_within_s: float = 0.0
    """Longest wait, before the run starts, for a host without other load, in seconds."""
    cut: str = ""
    """Why `time_limit_min` is less than requested; empty if it is not."""

    def within(self, left_s: float | None, *, of: str) -> Limits:
        """The same limits with only `left_s` seconds left, the last of them for the record. of: what ends after
        them."""
        left_min = math.inf if left_s is None else (left_s - WRITING_S) / 60
        if left_min >= self.time_limit_min:
            return self
        return replace(self, time_limit_min=left_min, cut=f"{of} has no more left")
