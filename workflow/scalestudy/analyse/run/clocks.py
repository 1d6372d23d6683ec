"""Whether the device's clock fell where the steps became slower: heat or power, and not other work on the host."""

from __future__ import annotations

from math import isnan, nan

import pandas as pd

EXPLAINED = 0.5
"""Share of the rise that the fall of the clock has to account for; steps wait for memory and each other, too."""


def clock_change(blocks: pd.DataFrame, at_step: float) -> float:
    """Relative change of the clock from the blocks before a step to those from it on, the mean over ranks.

    blocks: of one launch. Of the GPU where it was read, else of the cores; nan where neither was on both sides, or
    `at_step` is nan.
    """
    if isnan(at_step):
        return nan
    measured = blocks[blocks["phase"] == "measured"]
    column = "gpu_sm_clock_mhz" if measured["gpu_sm_clock_mhz"].notna().any() else "cpu_clock_mhz"
    clock, first = measured[column].astype(float), measured["first_step"]
    before = clock[first + measured["steps"] <= at_step].mean()
    after = clock[first >= at_step].mean()
    return float(after / before - 1) if before > 0 else nan


def throttled(level_change: pd.Series, clock_change: pd.Series) -> pd.Series:
    """For each launch whether its steps became slower, by a clock that fell.

    Work that is bound by the clock takes 1 + f times as long at 1 / (1 + f) of it.
    """
    fall = -level_change / (1 + level_change)
    return (level_change > 0) & (clock_change <= EXPLAINED * fall)
