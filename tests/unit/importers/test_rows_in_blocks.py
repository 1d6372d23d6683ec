"""Rows that are found in many lines at once are those that are found line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scalestudy.importers.logs import console_blocks
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from test_logs_of_any_trainer import STATED, TIME_S

GIVEN = Given(devices=8, batch=64, time="s")


@pytest.mark.parametrize("name", STATED)
def test_the_same_columns(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = STATED[name][0]
    path = tmp_path / "train.log"
    lines = [maker(step, TIME_S + step % 7 / 100) for step in range(1, 400)]
    path.write_text("started\n" + "".join(line + "a line between\n" * (at % 3) for at, line in enumerate(lines)))
    (fast,) = read_log(path, GIVEN)
    monkeypatch.setattr(console_blocks.RowPattern, "found_in", lambda *_: None)
    (slow,) = read_log(path, GIVEN)
    assert fast.remarks == slow.remarks
    for column, values in slow.columns.items():
        np.testing.assert_array_equal(fast.columns[column], values, err_msg=column)
