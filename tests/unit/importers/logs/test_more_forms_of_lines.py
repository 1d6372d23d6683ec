"""Console logs in forms that a list of trainers does not have: a step takes 0.5 s, the first one 9 s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported, refused

STEP_S, START_S = 0.5, 9.0


def stamp(passed_s: float) -> str:
    return f"2025-03-04 10:{int(passed_s) // 60:02d}:{int(passed_s) % 60:02d}"


def written(path: Path, row: Callable[[int, float, float], str], *, end: str = "\n", rows: int = 60) -> Path:
    """A log of rows, each of a step, its time, and the time since the start."""
    text, passed_s = "", 0.0
    for step in range(1, rows):
        time_s = START_S if step == 1 else STEP_S + (step % 5 - 2) / 100
        passed_s += time_s
        text += row(step, time_s, passed_s) + end
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("row", "per_row"),
    [
        (lambda at, s, _: f"INFO:tensorflow:Step {100 * at} per-step time {s:.3f}s", 100),
        (lambda at, s, _: f"epoch: {at} step: 100, loss is 2.5, per step time: {s * 1000:.1f} ms", 100),
        (lambda at, s, _: f"iter {at}, loss 2.5, forward 0.12 s, backward 0.25 s, total {s:.3f} s", 1),
        (lambda at, s, _: f'json_stats: {{"_type": "train", "dt": "{s:.4f}s", "iter": "{10 * at}/900"}}', 10),
        (lambda at, s, _: f"| epoch   1 | {20 * at:5d}/ 2983 batches | ms/batch {s * 1000:.2f} | loss 7.6", 20),
        (lambda at, s, _: f"[{at:05d}] loss 2.5 time {s * 1000:.1f}ms", 1),
        (lambda at, s, _: f"{10 * at:6d} | loss 2.5 | step time {s:.4f} s", 10),
    ],
)
def test_rows(row: Callable[[int, float, float], str], per_row: int, tmp_path: Path) -> None:
    run = imported(written(tmp_path / "train.log", row), devices=8, batch=64)
    assert run.step_s == pytest.approx(STEP_S, rel=0.01)
    assert run.steps_per_row == per_row


@pytest.mark.parametrize(
    "row",
    [
        lambda at, s, passed: f"{stamp(passed)} INFO train: iter {at} loss 2.5",
        lambda at, s, passed: f"{stamp(passed)},100 DEBUG TRAIN Batch 0/{at} loss 50.5 loss_att 40.2",
        lambda at, s, passed: f"INFO {stamp(passed)} hooks: Rank: 0; iter: {at}; lr: 0.1; loss: 2.5",
        lambda at, s, passed: f"step {at} | time elapsed: {passed:.0f} s | loss 2.5",
        lambda at, s, passed: "-" * 30 + f"\n| iterations | {at} |\n| time_elapsed | {passed:.0f} |\n" + "-" * 30,
        lambda at, s, passed: f"{at}%|#  | {at}/100 [00:{passed:02.0f}<01:00, 2.5it/s, loss=2.5]",
    ],
)
def test_whole_seconds(row: Callable[[int, float, float], str], tmp_path: Path) -> None:
    """A row lasts 0 or 1 s by such stamps: the mean has to be right, not that of the rows which last 1 s."""
    run = imported(written(tmp_path / "train.log", row), devices=8, batch=64, time="s")
    assert run.step_s == pytest.approx(STEP_S, rel=0.05)


def test_a_terminal_without_the_end_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    bars = [f"{at}%|#  | {at}/900 [{at // 60:02d}:{at % 60:02d}<09:00, 1.0it/s]" for at in range(1, 300)]
    path.write_text("\r".join([*bars, "33%|# | 30"]))
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(1.0, rel=0.01)


def test_numbers_that_do_not_rise_evenly_are_no_steps(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"[{at * at:05d}] loss 2.5 time 500.0ms\n" for at in range(1, 40)))
    assert "count steps if those of at least 3 lines rise by the same number" in refused(path, devices=8, batch=64)


@pytest.mark.parametrize("day", ["19-08-09", "12/11/20", "2019-08-09", "08/09"])
def test_stamps(day: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"{day} 08:{at:02d}:24.709 - INFO: <epoch: 86, iter: {1000 + 50 * at:,}> l_pix: 1.48e-03\n"
            for at in range(9)
        )
    )
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(1.2)


def test_one_epoch_that_several_processes_print(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("Epoch[21] Complete. Time taken: 00:00:02.012\nEpoch[21] Complete. Time taken: 00:00:01.659\n")
    assert "no line has both" in refused(path, devices=8, batch=64, samples=640)


@pytest.mark.parametrize(
    "row",
    [
        lambda at, s, passed: f"step {at} | loss 2.5 | avg step time: {passed / at:.4f} s",
        lambda at, s, passed: f"step {at} | wall time {passed:.2f} s | loss 2.5",
        lambda at, s, passed: f"step {100 * at} loss 2.5 elapsed {100 * passed / 3600:.4f} h",
        lambda at, s, passed: f"[{10 * at}/9000] loss=2.5 it/s={1 / s:.3f} samples/s={64 / s:.2f}",
    ],
)
def test_what_a_number_is_of(row: Callable[[int, float, float], str], tmp_path: Path) -> None:
    """A mean since the start, hours, and a rate whose name comes before that of the next one."""
    run = imported(written(tmp_path / "train.log", row), devices=8, batch=64, per="all")
    assert run.step_s == pytest.approx(STEP_S, rel=0.01)


@pytest.mark.parametrize(
    "row",
    [
        lambda at, s, passed: f"step {at}, loss 2.5, {900 - passed:.0f} s, lr 1e-4",
        lambda at, s, passed: f"step {at} loss 2.5 throughput {0.064 / s:.4f}k img/s",
    ],
)
def test_what_is_not_read(row: Callable[[int, float, float], str], tmp_path: Path) -> None:
    """The time that is left, and a number with a factor behind it."""
    path = written(tmp_path / "train.log", row)
    assert "no " in refused(path, devices=8, batch=64, rate="samples", per="all")
