"""Progress bars that count no steps. A bar of samples is converted to steps with the batch size of the user."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported, refused


def bars(unit: str) -> str:
    """40 samples/s on a bar that is drawn each second."""
    rows = [
        f"Epoch 1: {at // 50}%|#| {at * 40}/8000 [{at // 60:02d}:{at % 60:02d}<03:00, {unit}, loss=2.5]\n"
        for at in range(1, 180)
    ]
    return "".join(rows)


@pytest.mark.parametrize(
    "unit", ["40.0img/s", "40.02samples/s", "40.0 examples/s", "0.025s/sample", "1.2ksample/s"]
)
def test_samples(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(bars(unit))
    assert "and not steps; add --batch train.log=N" in refused(path, devices=8)
    assert imported(path, devices=8, batch=80).step_s == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize("unit", ["40.0MB/s", "40.0kB/s", "3.0epoch/s", "2.1s/epoch"])
def test_what_no_step_counts(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(bars(unit))
    assert "not of steps of a training" in refused(path, devices=8, batch=80)
