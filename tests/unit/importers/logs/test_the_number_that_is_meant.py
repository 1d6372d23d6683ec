"""Console logs with a second number of the same name or form: the step time is 1.5 s, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported, refused


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


def test_means_that_have_the_start_in_them(tmp_path: Path) -> None:
    """MMEngine prints the mean of 10 steps, and the first step takes 30 s: the clock shows steps of 3 s."""
    rows = [
        f"2023/05/24 20:17:{3 * step:02d} - mmengine - INFO - Epoch(train)  [1][{step:4d}/1051]  lr: 9.0e-09"
        f"  eta: 8 days, 4:44:34  time: {(30 + 3 * (step - 1)) / step:.4f}  data_time: 0.01  loss: 7.6343\n"
        for step in range(1, 8)
    ]
    path = tmp_path / "train.log"
    path.write_text("".join(rows))
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(3.0)
    path.write_text("".join("- mmengine" + row.partition("mmengine")[2] for row in rows))
    run = imported(path, devices=8, batch=64)
    assert any("so it has the start of the training in it" in remark for remark in run.remarks)


def test_the_only_row_has_the_time_since_the_start(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("-" * 20 + "\n| iterations | 8 |\n| time_elapsed | 12 |\n" + "-" * 20 + "\n")
    run = imported(path, devices=8, batch=64, time="s")
    assert run.step_s == pytest.approx(1.5)
    assert run.log.whole_run


def test_an_accuracy_is_no_time(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"Epoch {at}, Loss: 0.6, Train: 0.82\nan epoch took 18.6s\n" for at in range(9)))
    assert "no line has both" in refused(path, devices=8, batch=64, samples=640, time="s")


def test_a_row_with_only_a_stamp_needs_it(tmp_path: Path) -> None:
    """The same row is printed by two loggers, and only one of them prints the time."""
    path = tmp_path / "train.log"
    rows = [
        f"WARNING:root:Epoch 1, batch {50 * at}, loss 2.5\n"
        f"2021-09-30 17:{at:02d}:05,265 INFO (0/7) Epoch 1, batch {50 * at}, loss 2.5\n"
        for at in range(9)
    ]
    path.write_text("".join(rows))
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(60 / 50)


def test_a_batch_does_not_follow_from_rounded_times(tmp_path: Path) -> None:
    """128 samples in 13.5 ms, which is printed with two digits."""
    path = tmp_path / "train.log"
    rows = [
        f"step {10 * at}, loss = 0.9 ({rate} examples/sec; {128 / rate:.3f} sec/batch)\n"
        for at, rate in enumerate([9334.7, 9502.6, 9567.8, 9297.0, 9300.5, 9528.7, 9447.9, 9600.1, 9250.2])
    ]
    path.write_text("".join(rows))
    said = refused(path, devices=1)
    assert "the samples of a step are about 1" in said
    assert "add --batch train.log=N" in said
    assert imported(path, devices=1, batch=128).step_s == pytest.approx(0.0136, rel=0.05)


LEARNING = (
    "\n"
    + "#" * 60
    + "\n        Learning iteration {step}/900\n\n      Total steps: {total}\n  Steps per second: 1580\n"
    "   Collection time: 1.300s\n     Learning time: 0.200s\n" + "-" * 60 + "\n    Iteration time: 1.50s\n"
)


def test_steps_of_an_environment_are_not_those_of_the_training(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    rows = [LEARNING.format(step=step, total=2370 * step) for step in range(9)]
    path.write_text("".join(rows))
    run = imported(path, devices=8, batch=64)
    assert (run.step_s, run.total_steps) == (pytest.approx(1.5), 9)
    path.write_text("".join(row.partition("-" * 60)[0] for row in rows))
    assert "no line has both" in refused(path, devices=8, batch=64)


def test_updates_in_a_second_beside_other_rates(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    rates = [71.77, 69.64, 58.80, 52.58, 63.62, 54.60]
    path.write_text(
        "".join(
            f"Epoch[0] Batch [{50 * at}]\tSpeed: {rate} samples/sec {28 * rate:.1f} tokens/sec 1.25 updates/sec\n"
            for at, rate in enumerate(rates, 1)
        )
    )
    assert imported(path, devices=8, batch=64, per="all").step_s == pytest.approx(0.8)
    assert "the samples of a step are about 49" in refused(path, devices=1)


def test_a_date_without_a_year_is_no_position(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"[02/04 22:46:{24 + at}] INFO: Epoch: [0] [{2000 + at}/7312] batch_cost: 1.5 ips: 10.67 images/s\n"
            for at in range(9)
        )
    )
    run = imported(path, devices=8, per="all")
    assert (run.step_s, run.global_batch) == (pytest.approx(1.5), 16)


def test_stamps_of_glog(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"I0512 17:{at:02d}:30.676178 14426 solver.cpp:243] Iteration {40 * at}, loss = 1.44\n"
            f"I0512 17:{at:02d}:30.676455 14426 sgd_solver.cpp:138] Iteration {40 * at}, lr = 0.001\n"
            for at in range(9)
        )
    )
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(1.5)


def test_seconds_in_a_cell_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"{at}: 848.9 avg loss, 0.001 rate, 1.5{at % 3} seconds, {64 * at} images\nLoaded in 0.03 seconds\n"
            for at in range(9)
        )
    )
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(1.51, rel=0.01)


def test_a_row_per_epoch_in_json(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    rows = [
        {"mode": mode, "epoch": epoch, "iter": 20 if mode == "train" else 22, "data_time": 0.1, "time": 1.5}
        for epoch in range(29, 40)
        for mode in ("train", "val")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = imported(path, devices=8, batch=64)
    assert (run.step_s, run.steps_per_row) == (pytest.approx(1.5), 20)


def test_bars_of_less_than_a_second(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"{at}%| | {at}/99 [00:00<00:00, {at}.2it/s, loss=1]\n" for at in range(30, 60)))
    assert "pass less than a second" in refused(path, devices=8, batch=64)
