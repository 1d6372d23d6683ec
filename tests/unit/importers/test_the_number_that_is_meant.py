"""Console logs with a second number of the same name or form: the step time is 1.5 s, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported


@pytest.mark.parametrize(
    "row",
    [
        "step {step} | loss 2.5 | data time: 0.2 s | time: 1.5 s\n",
        "step {step} loss 2.5 data time 0.2 s, time 1.5 s, eta 3:00:00\n",
        "step {step} | loss 2.5 | data time: 0:00:00.2 | time: 0:00:01.5\n",
        "step {step} | loss 2.5 | remaining time: 1:50:{second:02d} | time: 1.5 s\n",
        "step {step} | loss 2.5 | time left: 1:50:{second:02d} | step time: 0:00:01.5\n",
    ],
)
def test_a_time_of_something_else_in_front(row: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(row.format(step=step, second=59 - step) for step in range(1, 50)))
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(1.5)
