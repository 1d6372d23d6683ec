"""Logs with the time of the last step and the running mean of its epoch: every fourth step waits for its data."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported

QUICK_S, WAITING_S, START_S, EPOCH = 0.1, 2.1, 30.0, 200
MEAN_S = (3 * QUICK_S + WAITING_S) / 4


def step_s(step: int) -> float:
    return START_S if step == 0 else WAITING_S if step % 4 == 3 else QUICK_S


def written(tmp_path: Path, first: int, every: int, row: str) -> Path:
    """A log of two epochs whose first step is called `first`."""
    path = tmp_path / "train.log"
    lines = []
    for epoch in range(2):
        total = 0.0
        for step in range(EPOCH):
            total += step_s(step)
            if (step + first) % every == 0:
                values = {"t": step_s(step), "m": total / (step + 1), "r": 64 / step_s(step)}
                lines.append(row.format(epoch=epoch, step=step + first, total=EPOCH, **values))
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(
    "row",
    [
        "Epoch: [{epoch}][{step}/{total}]\tTime {t:.3f} ({m:.3f})\tData 0.01 (0.02)\tLoss 6.9 (6.8)\n",
        "Train: {epoch} [{step:4d}/{total} (  0%)]  Loss:  6.97 (6.99)  Time: {t:.3f}s, {r:7.2f}/s  "
        "({m:.3f}s,  116.36/s)  LR: 5.0e-07  Data: 0.006 (0.033)\n",
        "Epoch: [{epoch}][{step}/{total}] Time: {t:.4f} ({m:.4f}) | Loss: 2.0 (2.5)\n",
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_the_mean_of_the_steps_between_two_rows_counts(row: str, first: int, tmp_path: Path) -> None:
    path = written(tmp_path, first, 20, row)
    run = imported(path, devices=8, batch=64, time="s", per="all")
    assert run.step_s == pytest.approx(MEAN_S, rel=0.02), (
        f"not {QUICK_S} or {WAITING_S}, which the last steps take"
    )
    assert any("means in parentheses" in remark for remark in run.remarks)


def test_rounded_means_are_joined_or_left_out(tmp_path: Path) -> None:
    row = "Epoch: [{epoch}][{step}/{total}]\tTime {t:.2f} ({m:.2f})\tData 0.01 (0.02)\n"
    run = imported(written(tmp_path, 0, 4, row), devices=8, batch=64)
    assert run.step_s == pytest.approx(MEAN_S, rel=0.02)
    row = row.replace("{t:.2f} ({m:.2f})", "{t:.1f} ({m:.0f})")
    run = imported(written(tmp_path, 0, 20, row), devices=8, batch=64)
    assert any("time of its last step" in remark for remark in run.remarks)


def test_exact_time_stamps_count_more_than_the_time_of_the_last_step(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    passed = {step: step * 0.57 for step in range(100, 900, 20)}
    stamps = {step: f"10:{int(at // 60):02d}:{at % 60:06.3f}".replace(".", ",") for step, at in passed.items()}
    path.write_text(
        "".join(f"2025-03-04 {at} INFO [{step}/900] Batch time: 0.45(1) s\n" for step, at in stamps.items())
    )
    run = imported(path, devices=8, batch=64, time="s")
    assert run.step_s == pytest.approx(0.57, rel=0.01)
    assert not any("counts for all steps since" in remark for remark in run.remarks), "one of the two remarks"
