"""Console logs with a row over several lines: a step takes 0.5 s and has 64 samples on 8 devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported, refused

BOX = (
    "-----------------------------------\n"
    "|      Iteration |            {step} |\n"
    "|      Wall_Time |        0.98{step} |\n"
    "| Samples_Per_Second |    {rate:.1f} |\n"
    "|           Loss |          0.214 |\n"
    "-----------------------------------\n"
)
BELOW = (
    "[step {step}]:\n"
    "\t train throughput/samples_per_sec: {rate:.2f}\n"
    "\t train throughput/device/samples_per_sec: {each:.2f}\n"
    "\t train loss: 2.25\n"
)
HEADED = "=== Step {step} ===\nloss = 2.5\nstep time = {s:.3f} s\nmemory = 12 GB\n"
PARAGRAPH = "\niteration: {step}\n  step_time (s):   {s:.3f}\n  tokens_per_sec:  16384\n  lr:  1e-4\n"
COMPOSER = (
    "[batch={step}/900]:\n"
    "\t Train time/batch: {step}\n"
    "\t Train time/sample: 640\n"
    "\t Train throughput/batches_per_sec: {batches:.4f}\n"
    "\t Train throughput/samples_per_sec: {rate:.4f}\n"
    "\t Train throughput/device/samples_per_sec: {each:.4f}\n"
)


@pytest.mark.parametrize("row", [BOX, BELOW, HEADED, PARAGRAPH, COMPOSER])
def test_a_row_over_several_lines(row: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    times = [9.0, *[0.5] * 30]
    path.write_text(
        "loading the data\n"
        + "".join(
            row.format(step=step, s=s, rate=64 / s, each=8 / s, batches=1 / s) for step, s in enumerate(times, 1)
        )
    )
    given = {} if "each" in row else {"devices": 8}
    if not given:
        run = imported(path, batch=64)
        assert run.devices == 8, "from the two rates"
    else:
        run = imported(path, devices=8, batch=8192 if "tokens" in row else 64, per="all")
    assert run.step_s == pytest.approx(0.5, rel=0.01)
    assert run.total_steps == 31


def test_lines_that_are_no_rows_are_not_joined_to_one(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of the preparation\nsaving the file took 3 s\n" for step in range(9)))
    assert "no line has both a step number and a time" in refused(path, devices=8, batch=64)
