"""How long a launch may wait and take. No part of a run's spec: no run is measured again for another limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

WRITING_S = 60
"""Seconds that a launch keeps for its record before its allocation ends."""


@dataclass(frozen=True)
class Limits:
    """Of one launch."""

    time_limit_min: float = 30
    """Minutes for all of it."""
    start_limit_s: float = 300
    """Seconds for all of its nodes to come up and meet."""
    stall_limit_s: float = 300
    """Seconds in which a rank has to move on."""
    quiet_within_s: float = 0.0
    """Seconds to wait, before it begins, for a host on which nobody else computes; then it begins all the same."""
    cut: str = ""
    """Why `time_limit_min` is less than was asked for; empty where it is not."""

    def within(self, left_s: float | None, *, of: str) -> Limits:
        """The same where only so many seconds are left of something, the last of them for the record."""
        left_min = math.inf if left_s is None else (left_s - WRITING_S) / 60
        if left_min >= self.time_limit_min:
            return self
        return replace(self, time_limit_min=left_min, cut=f"{of} has no more left")
