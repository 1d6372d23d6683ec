"""A traced run executes its traced steps as one block, and the trace has all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launches import spec_of, trainer_of
from scalestudy.record.traces import read_trace
from scalestudy.train.probes import TRACE_WARMUP_STEPS, trace_steps

STEPS = 5


def test_a_traced_launch_has_one_block_of_all_its_traced_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of({"strategy": "single"}, {}).model_copy(update={"profile_steps": STEPS})
    made = trainer_of(spec, tmp_path)
    blocks: list[int] = []
    run_block = made.stepper.run_block

    def counted(batches: list[Any], **options: Any) -> tuple[np.ndarray, list[float]]:
        blocks.append(len(batches))
        return run_block(batches, **options)

    monkeypatch.setattr(made.stepper, "run_block", counted)
    trace_steps(made)
    assert blocks == [TRACE_WARMUP_STEPS, STEPS]
    (path,) = tmp_path.glob("trace-rank0*")
    ranges = {event["name"] for event in read_trace(path) if event["name"].startswith("ProfilerStep#")}
    assert ranges == {f"ProfilerStep#{TRACE_WARMUP_STEPS + step}" for step in range(STEPS)}
