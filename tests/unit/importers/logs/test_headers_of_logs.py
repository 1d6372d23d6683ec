"""Which of several columns a log's quantity is read from."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.tabular.columns import Columns


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("mean_step_time_s", "step_time_s"), "step_time_s"),
        (("train/avg_step_time_s", "train/step_time_s", "step_time"), "train/step_time_s"),
        (("mean_step_time_s", "loss"), "mean_step_time_s"),
    ],
)
def test_a_column_of_steps_comes_before_a_mean_of_the_training(names: tuple[str, ...], chosen: str) -> None:
    for order in permutations(names):
        assert Columns.of(Path("log.csv"), order, Given()).name("step_time_s") == chosen
