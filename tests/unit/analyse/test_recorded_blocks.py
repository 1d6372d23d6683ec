"""Sixty blocks, recorded beside an intermittent load: intervals from five of them include the speedup of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import Interval

RECORDED = Path(__file__).parents[2] / "data/blocks_under_load.csv"
"""From `python -m bench.recorded_blocks`: step times of one process and of two ranks."""
FIVE = 5
SUBSETS = 2000


@pytest.fixture(scope="module")
def times() -> pd.DataFrame:
    """Step times by block, a column for each number of ranks."""
    return pd.read_csv(RECORDED).pivot_table(index="block", columns="ranks", values="step_time_s")


@pytest.fixture(scope="module")
def subsets(times: pd.DataFrame) -> list[pd.DataFrame]:
    random = np.random.default_rng(2026)
    return [times.iloc[np.sort(random.choice(len(times), FIVE, replace=False))] for _ in range(SUBSETS)]


def speedup(blocks: pd.DataFrame) -> Interval:
    return ratio_in_blocks(blocks[1], blocks[2], planned=60, confidence=0.95)


def test_there_are_sixty_whole_blocks(times: pd.DataFrame) -> None:
    assert len(times) == 60
    assert times.notna().all(axis=None)
    places = pd.read_csv(RECORDED).pivot_table(index="block", columns="ranks", values="place")
    assert places[1].tolist() == [1, 2] * 30, "each second block is in reverse"


def test_five_blocks_hold_the_speedup_of_all(times: pd.DataFrame, subsets: list[pd.DataFrame]) -> None:
    truth = speedup(times).value
    held = np.mean([found.low <= truth <= found.high for found in map(speedup, subsets)])
    assert held >= 0.93, f"{held:.1%}"
