"""Rows that count samples, times of whole epochs, and times that scatter: what a row's numbers are of."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported, refused


def stamp(seconds: float) -> str:
    return f"2024-12-10 16:{int(seconds) // 60:02d}:{seconds % 60:06.3f}".replace(".", ",")


def mnist(*, ranks: int = 1, steps: int = 0) -> str:
    """PyTorch's example with 64 samples of a rank in a step of 18 ms, and a test of 3 s after each epoch.

    ranks: of one training. steps: number of the steps of an epoch, if rows count steps and not samples.
    """
    total = steps or 60_000
    rows, clock, each = [], 0.0, 1 if steps else 64
    for epoch in (1, 2, 3):
        for step in range(0, total // each // ranks, 100):
            share = 100 * step * each * ranks / total
            rows.append(
                f"{stamp(clock)} - Train Epoch: {epoch} [{step * each}/{total} ({share:.0f}%)]\tLoss: 0.275986\n"
            )
            clock += 100 * 0.018
        clock += 3.0
        rows.append(f"{stamp(clock)} - Test set: Average loss: 0.0010, Accuracy: 9798/10000 (98%)\n")
    return "".join(rows)


def test_rows_that_count_samples(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(mnist())
    assert "its rows count samples or steps, which the samples of a step show; add --batch train.log=N" in (
        refused(path, devices=1)
    )
    run = imported(path, devices=1, batch=64)
    assert run.step_s == pytest.approx(0.018, rel=0.01), "neither 0.28 ms nor with the tests"
    assert "rows count samples, of which a step has 64" in run.remarks


def test_samples_that_ranks_share(tmp_path: Path) -> None:
    """Each of 4 ranks has a quarter of the samples, and its rows end at a quarter of the data set."""
    path = tmp_path / "train.log"
    path.write_text(mnist(ranks=4))
    run = imported(path, batch=256)
    assert (run.devices, run.total_steps) == (4, pytest.approx(3 * 60_000 / 256, abs=100))
    assert run.step_s == pytest.approx(0.018, rel=0.01)
    assert "rows count samples, of which a step has 256, and 4 ranks share them" in run.remarks


def test_rows_with_a_share_that_count_steps(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(mnist(steps=938))
    assert imported(path, devices=1, batch=64).step_s == pytest.approx(0.018, rel=0.01)


def test_the_time_of_an_epoch_that_has_more_digits_than_that_of_a_step(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"Epoch {at}/20\n1000/1000 [==============================] - {1843 + at}s 2s/step - loss: 2.5\n"
            for at in range(1, 20)
        )
    )
    assert imported(path, devices=2, batch=32).step_s == pytest.approx(1.854, rel=0.01)
    path.write_text("".join(f"Epoch {at}/20\n85/85 [====] - 30s 354ms/step - loss: 2.5\n" for at in range(1, 20)))
    assert imported(path, devices=2, batch=32).step_s == pytest.approx(0.354)


def test_few_times_of_one_digit_are_not_exact(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"938/938 [====] - 5s {ms}ms/step - loss: 2.5\n" for ms in (5, 9, 6, 6)))
    remarks = imported(path, devices=2, batch=32).remarks
    assert any("step times are printed with few digits, each is exact to 8 %" in remark for remark in remarks)


def test_times_that_rise_twice_by_chance_are_no_clock(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    times = (0.03, 0.04, 0.08, 0.03, 0.06, 0.12, 0.07)
    path.write_text(
        "".join(f"Step {20 * at}, Loss: 1.75, Elapsed Time: {time} seconds\n" for at, time in enumerate(times, 13))
    )
    assert "the time of one step, or of the 20 steps since the row before?" in refused(path, devices=4, batch=64)


@pytest.mark.parametrize("words", ["2 hours, 45 minute and 30 seconds .", "2 h 45 min 30 sec", "165m 30.0s"])
def test_durations_in_words(words: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"----- Epoch: {at}\nEpoch {at} completed in {words}\n" for at in range(1, 9)))
    assert imported(path, devices=4, batch=10, samples=1000).step_s == pytest.approx(99.3)


def test_bars_of_samples_without_a_total(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"Epoch: {at}/10: 116800img [02:26, 800.00img/s, loss=3.3]\n" for at in range(1, 9)))
    assert "its bars count 934400 img in 1168 s, and not steps; add --batch" in refused(path, devices=4)
    assert imported(path, devices=4, batch=64).throughput == pytest.approx(800, rel=0.01)
