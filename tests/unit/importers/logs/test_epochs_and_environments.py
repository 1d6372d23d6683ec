"""Lines of epochs without a step, and steps of an environment: neither is taken as steps of a training."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.console import epoch_rows
from scalestudy.importers.logs.model import Given
from test_logs_of_any_trainer import imported, refused


def stamp(seconds: float) -> str:
    return f"2025-07-07 13:{int(seconds) // 60:02d}:{seconds % 60:06.3f}"


def test_epochs_with_nothing_but_time_stamps(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        f"{stamp(0)} INFO: torch version: 2.7.1\n"
        + "".join(
            f"{stamp(60 * at + 100)} INFO: Epoch [{at:03d}/300] - Train Loss: 1.{at}, Valid Loss: 2.{at}\n"
            f"{stamp(60 * at + 100.1)} INFO:   [SAVE] Best model at epoch {at}.\n"
            for at in range(1, 12)
        )
    )
    assert "a line is an epoch, and the samples of a step are not in it" in refused(path, devices=4)
    run = imported(path, devices=4, batch=100, samples=20_000)
    assert run.step_s == pytest.approx(60 / 200), "not 60 s, the time of an epoch"
    assert "a line is an epoch of 200 steps: the time between two lines counts, with its validation" in run.remarks


def test_the_position_of_an_epoch_alone_is_no_step(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"Epoch [{at}/90] loss: 2.5 time: 12.5s\n" for at in range(1, 20)))
    assert "a line is an epoch" in refused(path, devices=4)
    for between in ("", ",", " -", " |"):
        rows = [f"Epoch [3/90]{between} [{10 * at}/500] loss: 2.5 batch time: 0.125s\n" for at in range(1, 20)]
        path.write_text("".join(rows))
        run = imported(path, devices=4, batch=64)
        assert (run.step_s, run.steps_per_row) == (pytest.approx(0.125), 10)


def taken(at: int, rate: float | None) -> str:
    time = 48.78507542610168 + 1e-9 * at
    return f"INFO - Time taken for epoch {at} is {time} sec" + (f", avg {rate} samples/sec\n" if rate else "\n")


def test_the_time_taken_for_an_epoch(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(taken(at, None) for at in range(1, 9)))
    assert "its samples are not in it; add --samples train.log=N" in refused(path, devices=4, batch=64)
    run = imported(path, devices=4, batch=64, samples=6400)
    assert run.step_s == pytest.approx(0.4878507), "all digits are read"


def test_the_samples_of_an_epoch_by_its_throughput(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(taken(at, 83.96010386833387) for at in range(1, 9)))
    run = imported(path, devices=4, batch=64)
    assert run.throughput == pytest.approx(83.96, rel=0.001)
    assert "an epoch has 4096 samples, from its throughput times its time" in run.remarks
    said = refused(path, devices=4, batch=64, samples=50_000)
    assert "an epoch has 4096 samples by its throughput and its time, and not 50000" in said


def test_steps_of_an_environment_are_no_training_steps(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"INFO: Ball: Step: {12_000 * at}. Time Elapsed: {14.4 * at:.3f} s Mean Reward: {at}.5. Training.\n"
            for at in range(1, 30)
        )
    )
    said = refused(path, devices=4)
    assert "its rows have a reward and steps of 1.2 ms, which are those of an environment; add --batch" in said
    run = imported(path, devices=4, batch=12_000)
    assert run.step_s == pytest.approx(14.4)


def test_steps_with_a_reward_that_take_long_are_training_steps(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {at} | reward 0.5 | loss 2.5 | step time: 2.5 s\n" for at in range(1, 30)))
    assert imported(path, devices=4, batch=64).step_s == pytest.approx(2.5)


def test_a_time_in_parentheses_behind_an_epoch(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(f"[train] epoch {at}/9 train_loss=0.45 val_loss=0.37 ({6 + at / 10}s)\n" for at in range(9))
    )
    assert imported(path, devices=4, batch=10, samples=1000).step_s == pytest.approx(0.0645, rel=0.01)


def test_the_time_of_each_step(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"{stamp(2 * at)} Epoch=2/270, Step={2 * at}/740, loss=4.4, time_each_step=0.2{at % 2}s, eta=2:7\n"
            for at in range(1, 30)
        )
    )
    assert imported(path, devices=4, batch=64).step_s == pytest.approx(0.205, rel=0.02)


def test_the_time_between_dashes_as_keras_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(f"Epoch {at}/6 - 62s - loss: 0.5 - accuracy: 0.8 - val_loss: 0.6\n" for at in range(1, 7))
    )
    run = imported(path, devices=1, samples=50_000, batch=128)
    assert run.step_s == pytest.approx(62 / 391)


def test_a_log_without_epochs_is_told_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("hello\n")
    with pytest.raises(UserError, match="no line has both an epoch and its time"):
        epoch_rows.read(path, Given(devices=1))
