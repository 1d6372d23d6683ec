"""Console logs with durations of several parts, and logs with a line per epoch: a step takes 1.5 s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scalestudy.importers.logs.console.durations import in_seconds
from test_logs_of_any_trainer import imported, refused

STEP_S, START_S = 1.5, 40.0


def clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"


def words(seconds: float) -> str:
    return f"{int(seconds) // 60}m {seconds % 60:.1f}s"


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("epoch time: 0m 38s", "epoch time: 38.0 s"),
        ("elapsed: 1:02:03 | eta: 0:12:00", "elapsed: 3723.0 s | eta: 0:12:00"),
        ("took 1h 2m 3.5s", "took 3723.5 s"),
        ("'elapsed_time': '4h 45m 30s', 'loss': 0.5", "'elapsed_time': '17130.0 s', 'loss': 0.5"),
        ("elapsed: 1 day, 2:03:04", "elapsed: 93784.0 s"),
        ("elapsed: 1d 2h 3m 4s", "elapsed: 93784.0 s"),
        ("time: 150:00", "time: 9000.0 s"),
        ("time: 1:75:00", "time: 1:75:00"),
        ("total: 2m 40s\tremaining: 28m 47s", "total: 160.0 s\tremaining: 28m 47s"),
        ("Epoch Time: 1 min 5 sec", "Epoch Time: 65.0 s"),
        ("elapsed time 0:00:01.25", "elapsed time 1.25 s"),
        ("remaining time: 1:02:03", "-"),
        ("time: 12m", "time: 12m"),
        ("2024-01-01 10:00:00 step 3 time: 0.5 s", "2024-01-01 10:00:00 step 3 time: 0.5 s"),
    ],
)
def test_durations_as_seconds(printed: str, read: str) -> None:
    assert in_seconds(printed.encode()).decode() == read


@pytest.mark.parametrize(
    "row",
    [
        lambda step, s: f"step {step}/900 | loss 2.5 | elapsed: {clock(s)} | eta: 0:20:00\n",
        lambda step, s: f"Iter {step}: loss=2.5, time elapsed: {words(s)}, remaining time: 20m 10s\n",
        lambda step, s: f"[Step {step}] train_loss: 2.5 elapsed_time: {s:.1f}s\n",
        lambda step, s: f"{step}:\tlearn: 0.25\ttotal: {words(s)}\tremaining: 20m 10s\n",
        lambda step, s: f"[Info] {s:.3f} seconds elapsed, finished iteration {step}\n",
    ],
)
def test_the_time_since_the_start(row: Callable[[int, float], str], tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(row(step, START_S + STEP_S * step) for step in range(20, 900, 20)))
    run = imported(path, devices=8, batch=64)
    assert run.step_s == pytest.approx(STEP_S, rel=0.02)
    assert run.steps_per_row == 20


@pytest.mark.parametrize(
    "row",
    [
        "step {step} took 1.5 s, loss 2.25\n",
        "Step {step} | step time: 0:00:01.5 | loss 2.25\n",
        "iteration {step} loss: 2.25 elapsed: 9.75s step_time: 1.5s\n",
    ],
)
def test_the_time_of_a_step_in_further_forms(row: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(row.format(step=step) for step in range(1, 30)))
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(STEP_S)


def test_a_time_that_may_be_of_several_steps_is_not_read_beside_a_throughput(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    times = [14.0 + step % 3 for step in range(40)]
    path.write_text(
        "".join(f"step {10 * at} loss 2.5 elapsed: {time}s, 42.5 samples/s\n" for at, time in enumerate(times))
    )
    run = imported(path, devices=8, batch=64, per="all")
    assert run.throughput == pytest.approx(42.5)
    assert any("is not read" in remark for remark in run.remarks)


EPOCHS = [
    "Epoch {epoch}/20 - loss: 2.25 - val_loss: 2.5 - time: {s:.1f}s\n",
    "Epoch: {epoch:02d} | Epoch Time: {minutes}m {seconds:.0f}s\n\tTrain Loss: 2.25\n",
    "[epoch {epoch}] train loss 2.25, took {s:.1f} seconds\n",
    "| epoch {epoch} | train time {s:.1f}s | infer 9.9s\n",
    "Epoch {epoch} | Epoch Time(s): {s:.4f}\n",
    "Epoch {epoch} finished in {s:.1f} s\nValidation epoch {epoch} took 90 s\n",
]


@pytest.mark.parametrize("row", EPOCHS)
def test_a_line_per_epoch(row: str, tmp_path: Path) -> None:
    """An epoch has 100 steps of 64 samples."""
    path = tmp_path / "train.log"
    lines = []
    for epoch in range(1, 9):
        s = 100 * STEP_S + (60 if epoch == 1 else 0)
        lines.append(row.format(epoch=epoch, s=s, minutes=int(s) // 60, seconds=s % 60))
    path.write_text("".join(lines))
    assert "add --batch" in refused(path, devices=8)
    assert "add --samples" in refused(path, devices=8, batch=64)
    run = imported(path, devices=8, batch=64, samples=6400)
    assert run.step_s == pytest.approx(STEP_S)
    assert run.steps_per_row == 100
    assert any("a line is an epoch of 100 steps" in remark for remark in run.remarks)


def test_a_time_of_epochs_since_the_start_or_without_a_unit(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"Epoch {epoch} loss 2.5 elapsed {150 * epoch}s\n" for epoch in range(1, 9)))
    run = imported(path, devices=8, batch=64, samples=6400)
    assert run.step_s == pytest.approx(STEP_S)
    path.write_text("".join(f"Epoch {epoch} loss 2.5 time: {150}\n" for epoch in range(1, 9)))
    assert "add --time" in refused(path, devices=8, batch=64, samples=6400)
    assert imported(path, devices=8, batch=64, samples=6400, time="s").step_s == pytest.approx(STEP_S)


@pytest.mark.parametrize(
    "row",
    [
        "I0101 10:00:00.123456 139 logging_writer.py:48] [{step}] lr=0.1, loss=2.3, steps_per_sec=0.6667\n",
        "I20240101 1 helpers.py:103] Training  [ {step}/125000]  eta: 1 day, 0:00:00  total_loss: 1.2 (1.3)  "
        "time: 1.50  data: 0.01  max mem: 100\n",
        "INFO Train: [0/300][{step}/1251]\teta 0:10:20 lr 0.0\ttime 1.5000 (1.5000)\tloss 6.9 (6.9)\tmem 100MB\n",
        "iteration {step}, loss 2.3, 1.5 seconds per iteration\n",
        '{{"loss": 1.2, "train_speed(iter/s)": 0.6667, "global_step/max_steps": "{step}/900"}}\n',
        "{step}\timages/sec: 42.7 +/- 0.0 (jitter = 0.0)\t8.5\n",
    ],
)
def test_the_step_of_further_trainers(row: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(row.format(step=step) for step in range(10, 200, 10)))
    run = imported(path, devices=8, batch=64, time="s")
    assert run.step_s == pytest.approx(STEP_S, rel=0.01)
    assert run.log.columns["step"].max() == 190, "not the number of the epoch"
