"""A host that runs ahead of its device, and one that does not keep up."""

from __future__ import annotations

import time
from math import isnan, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from launches import spec_of, trainer_of
from scalestudy.analyse.run.enqueued import enqueue_share
from scalestudy.analyse.run.grid import Columns

STEPS = 5
MARKS = 5
"""Of a step."""
STEP_S = 0.010


def share(blocks: pd.DataFrame, steps: pd.DataFrame) -> float:
    return enqueue_share(Columns(pyarrow.Table.from_pandas(blocks)), Columns(pyarrow.Table.from_pandas(steps)))


def test_it_is_that_of_the_measured_blocks_and_of_the_busiest_host() -> None:
    """Steps of 10 ms: rank 1 queues the first of a block in 9.5 ms, rank 0 in 4 ms. The warm-up does not count."""
    rows = [(rank, block) for rank in (0, 1) for block in range(3)]
    blocks = pd.DataFrame(rows, columns=["rank", "block"])
    blocks["phase"] = ["warmup" if block == 0 else "measured" for _, block in rows]
    blocks["enqueue_first_step_s"] = [5.0 if block == 0 else (0.0095 if rank else 0.004) for rank, block in rows]
    steps = blocks.loc[blocks.index.repeat(2), ["rank", "block"]].assign(step_time_s=STEP_S)
    assert share(blocks, steps) == pytest.approx(0.95)
    assert isnan(share(blocks.assign(enqueue_first_step_s=nan), steps))
    assert isnan(share(blocks.drop(columns="enqueue_first_step_s"), steps)), "a record of before"
    assert isnan(share(blocks.iloc[:0], steps))


class SlowDevice:
    """A device that takes 10 ms for a step, whatever it is. From the second step on the host waits for it."""

    host_runs_ahead = True

    def __init__(self) -> None:
        self.queued_s: list[float] = []

    def now(self) -> int:
        if len(self.queued_s) > MARKS:
            time.sleep(STEP_S)
        self.queued_s.append(time.perf_counter())
        return 0

    def settle(self) -> None:
        self.queued_s.clear()

    def between(self, marks: list[int]) -> np.ndarray:
        time.sleep(STEPS * STEP_S)
        count = len(marks) - 1
        return np.full(count, STEPS * STEP_S / count)


def test_a_run_keeps_what_its_host_took_to_queue_the_first_step_of_a_block(tmp_path: Path) -> None:
    trainer = trainer_of(spec_of({"strategy": "single"}, {"epochs": 0}), tmp_path)
    trainer.train_block(1, trainer.open_epoch(1)[:STEPS])
    assert trainer.recorder.tables()["blocks"]["enqueue_first_step_s"].is_nan().to_pylist() == [True], "a CPU"
    trainer.clock = trainer.stepper.clock = SlowDevice()
    begin = time.perf_counter()
    trainer.train_block(1, trainer.open_epoch(1)[:STEPS])
    took_s = time.perf_counter() - begin
    queued_s = trainer.recorder.tables()["blocks"]["enqueue_first_step_s"].to_pylist()[1]
    assert 0 < queued_s < took_s - STEPS * STEP_S, "without the time in which the host waits"
