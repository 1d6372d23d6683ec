"""Slower for heat or for other work: the clock tells, where it can be read."""

from __future__ import annotations

from math import isnan, nan

import pandas as pd
import pytest
from scalestudy.analyse.run.steady import clock_change, throttled


def blocks(gpu: list[float], cpu: list[float]) -> pd.DataFrame:
    """Blocks of ten steps on each of two ranks; the warm-up, which is a block more, runs at another clock."""
    count = len(gpu)
    of_rank = pd.DataFrame(
        {
            "phase": ["warmup", *["measured"] * count],
            "first_step": [10 * block for block in range(count + 1)],
            "steps": 10,
            "gpu_sm_clock_mhz": [500.0, *gpu],
            "cpu_clock_mhz": [500.0, *cpu],
        }
    )
    return pd.concat([of_rank.assign(rank=0), of_rank.assign(rank=1)])


NONE = [nan] * 6
FALLS = [2000.0, 2000.0, nan, 2000.0, 1600.0, 1600.0]


def test_the_clock_before_and_after_the_change() -> None:
    # From step 45 on: the block of steps 40 to 49 is on both sides, and says nothing.
    assert clock_change(blocks(NONE, FALLS), 45.0) == pytest.approx(1600 / 2000 - 1)
    assert clock_change(blocks(FALLS, [1.0] * 6), 50.0) == pytest.approx(-0.2), "that of the GPU, if there is one"


@pytest.mark.parametrize("at_step", [nan, 5.0, 1000.0])
def test_nothing_is_known_without_a_change_or_a_side(at_step: float) -> None:
    assert isnan(clock_change(blocks(NONE, FALLS), at_step))


def test_nothing_is_known_where_no_clock_was_read() -> None:
    assert isnan(clock_change(blocks(NONE, NONE), 40.0))


def test_a_launch_is_throttled_where_the_clock_accounts_for_half_of_what_was_lost() -> None:
    level = pd.Series([0.25, 0.25, 0.25, 0.25, -0.2, 0.0])
    clock = pd.Series([-0.2, -0.11, -0.05, nan, -0.2, nan])
    assert throttled(level, clock).tolist() == [True, True, False, False, False, False]
