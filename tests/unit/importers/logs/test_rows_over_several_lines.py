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


def test_the_devices_and_the_scope_that_a_benchmark_prints(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    rows = "".join(f"Iter #{at}: {16 + at / 100:.2f} img/sec per GPU\n" for at in range(10))
    path.write_text(f"Batch size: 8\nNumber of GPUs: 8\nnum_workers: 3\nRunning benchmark...\n{rows}")
    run = imported(path, batch=64)
    assert (run.devices, run.log.per) == (8, "device")
    assert run.throughput == pytest.approx(128, rel=0.01)


def test_a_header_in_front_of_lines_with_names(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    rows = "".join(f"{10 * at}\timages/sec: 128.0 +/- 0.1 (jitter = 0.3)\t8.{at}\n" for at in range(1, 10))
    path.write_text(f"Step\tImg/sec\ttotal_loss\n{rows}")
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(0.5)


def test_the_time_of_several_updates_by_the_time_stamps(tmp_path: Path) -> None:
    """Marian prints the time of all updates since the row before."""
    path = tmp_path / "out.txt"
    path.write_text(
        "".join(
            f"[2025-03-04 10:{5 * at // 60:02d}:{5 * at % 60:02d}] Ep. 2 : Up. {10 * at} : Sen. {640 * at} : "
            "Cost 39.5 : Time 5.00s : 16384.00 words/s\n"
            for at in range(1, 30)
        )
    )
    run = imported(path, devices=8, per="all")
    assert run.step_s == pytest.approx(0.5)
    assert run.global_batch == 8192


def test_a_stated_time_that_is_much_longer_has_a_remark(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(
        "".join(f"step {at} | loss 2.5 | step time: {9.5 if at == 7 else 0.5}s\n" for at in range(1, 20))
    )
    run = imported(path, devices=8, batch=64)
    assert run.step_s == pytest.approx(1.0)
    assert any(
        "1 row takes more than 5 times the median and counts; it is at line 7" in one for one in run.remarks
    )
