"""Rows that are found in many lines at once are those that are found line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scalestudy.importers.logs.console import blocks, form, rows
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from test_durations_in_logs import clock
from test_logs_of_any_trainer import STATED, TIME_S

GIVEN = Given(devices=8, batch=64, time="s")


MORE = {
    "elapsed": lambda step, s: f"step {step} | loss 2.5 | elapsed: {clock(3 * step)} | eta: 0:20:00\n",
    "words": lambda step, s: (
        f"Iter {step}: loss=2.5, time elapsed: {step // 20}m {3 * step % 60}s, end in 20m 1s\n"
    ),
    "two durations": lambda step, s: (
        f"step {step} | data time: 0:00:00.2 | step time: 0:00:{s:04.1f} | loss 2.5\n"
    ),
    "what is left": lambda step, s: f"step {step} | remaining time: {clock(9000 - step)} | time: {s} s\n",
    "two rates": lambda step, s: f"step {step} | gpus: 8 | {64 / s:.3f} samples/s | {8 / s:.3f} samples/s/gpu\n",
    "updates": lambda step, s: (
        f"Batch [{step}] Speed: {64 / s:.2f} samples/sec {1 / s:.3f} updates/sec loss 2.5\n"
    ),
    "commas": lambda step, s: f"19-08-09 08:{step % 60:02d}:24.709 - <epoch: 8, iter: {100 * step:,}> loss: 2.5\n",
    "iterations": lambda step, s: f"iter {step} | optimizer step {step // 4} | batch size: 64 | iter time {s} s\n",
}
MAKERS = {name: maker for name, (maker, *_) in STATED.items()} | MORE


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_columns(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = MAKERS[name]
    path = tmp_path / "train.log"
    lines = [maker(step, TIME_S + step % 7 / 100) for step in range(1, 400)]
    path.write_text("started\n" + "".join(line + "a line between\n" * (at % 3) for at, line in enumerate(lines)))
    (fast,) = read_log(path, GIVEN)
    monkeypatch.setattr(blocks.RowPattern, "found_in", lambda *_: None)
    (slow,) = read_log(path, GIVEN)
    assert (fast.remarks, fast.facts) == (slow.remarks, slow.facts)
    for column, values in slow.columns.items():
        np.testing.assert_array_equal(fast.columns[column], values, err_msg=column)


def test_blocks_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are taken one by one are 1/10 as fast: only a few around a line of a validation are."""
    taken: list[int] = []
    one_by_one = rows.RowReader._take
    monkeypatch.setattr(rows.RowReader, "_take", lambda self, *row: taken.append(row[0]) or one_by_one(self, *row))
    path = tmp_path / "train.log"
    lines = [MORE["two durations"](step, 1.5) for step in range(1, 9000)]
    lines[4500] = "val step 4500 | step time: 0:00:07.5\n"
    path.write_text("".join(lines))
    (log,) = read_log(path, GIVEN)
    assert len(log.columns["step"]) == len(lines) - 1
    assert 0 < len(taken) < 2 * rows.FEWEST


def test_few_of_many_equal_lines_before_the_first_row_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[bytes] = []
    phrases = form.phrases
    monkeypatch.setattr(form, "phrases", lambda line, *more: looked_at.append(line) or phrases(line, *more))
    path = tmp_path / "train.log"
    rows = "".join(MORE["two durations"](step, 1.5) for step in range(1, 40))
    path.write_text("".join(f"shard {at:05d} of the data was read in {at % 7}.5 s\n" for at in range(9000)) + rows)
    (log,) = read_log(path, GIVEN)
    assert len(log.columns["step"]) == 39
    assert len([line for line in looked_at if line.startswith(b"shard")]) < 200


def test_a_line_over_another_one_between_rows_of_several_lines(tmp_path: Path) -> None:
    """A carriage return within a line is no end of a line, also where many rows are joined at once."""
    path = tmp_path / "train.log"
    row = "[step {}]:\n\t train throughput/samples_per_sec: 128.0\n\t train loss: 2.25\n"
    text = [row.format(step) for step in range(1, 6000)]
    text[3000] += "batch 1 of the checkpoint\rbatch 2 of the checkpoint\n"
    path.write_text("".join(text), newline="")
    (log,) = read_log(path, GIVEN)
    assert log.columns["step"].tolist() == list(range(1, 6000))
