"""Console logs of several runs: they are refused where sizes or directories differ, and a restart is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported, refused

GIVEN = {"devices": 8, "batch": 64}


def steps(first: int = 1) -> str:
    return "".join(f"step {step} | loss 2.5 | step time: 0.5 s\n" for step in range(first, first + 20))


def bars(_: int = 1) -> str:
    return "".join(f" {at}%|#  | {at}/100 [00:{at:02d}<01:00, 1.00it/s]\n" for at in range(1, 50))


@pytest.mark.parametrize("rows", [steps, bars])
@pytest.mark.parametrize(
    "stated",
    [
        "world_size: {size}\n",
        "  world_size ...................... {size}\n",
        "torchrun --nproc_per_node={size} train.py\n",
        "Namespace(lr=0.1, output_dir='runs/{size}', seed=1)\n",
        "number of devices: {size}\n",
    ],
)
def test_another_run_is_refused(rows: object, stated: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    one = rows()  # type: ignore[operator]
    path.write_text(stated.format(size=8) + one + stated.format(size=16) + one)
    said = refused(path, **GIVEN)
    lines = one.count("\n") + 1
    assert f"line {lines + 1}: another run begins: " in said
    assert f"head -n {lines} train.log > first.log and tail -n +{lines + 1} train.log > second.log" in said


@pytest.mark.parametrize("first", [1, 11])
def test_a_restart_is_the_same_run(first: int, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    said = "world_size: 8, output_dir: runs/a\n"
    path.write_text(said + steps() + said + steps(first))
    assert imported(path, **GIVEN).step_s == pytest.approx(0.5)


def test_sizes_in_front_of_the_rows_may_be_of_several_things(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("log_dir: a\nlog_dir: b\n" + steps() + "saved a checkpoint\n" + steps(5))
    assert imported(path, **GIVEN).step_s == pytest.approx(0.5)


def test_rows_with_other_numbers_of_devices(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    rows = "".join(
        f"step {step} | gpus: {8 if step < 9 else 16} | loss 2.5 | step time: 0.5 s\n" for step in range(20)
    )
    path.write_text(rows)
    assert "its rows have 8 devices and then 16: a log is one run" in refused(path, batch=64)


def test_two_command_lines(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("train.py --gpus=1 --lr 0.1\n" + steps() + "train.py --gpus=3 --lr 0.1\n" + steps())
    assert "line 22: another run begins: `gpus` is 3, and in line 1 it is 1." in refused(path, **GIVEN)
    path.write_text("train.py --gpus=1 --start 0\n" + steps() + "train.py --gpus=1 --start 5\n" + steps(5))
    assert imported(path, **GIVEN).step_s == pytest.approx(0.5)


def bar(step: int, total: int) -> str:
    return f"Epoch 0:  1%|#  | {step}/{total} [00:{step // 2:02d}<01:00, 2.00it/s, v_num=1, loss=2.5]\n"


def test_bars_of_two_runs_with_other_totals(tmp_path: Path) -> None:
    """A run on 4 GPUs has a quarter of the steps of that on one. Bars are drawn twice within a second."""
    path = tmp_path / "train.log"
    four, one = ("".join(bar(step, total) for step in range(2, 60)) for total in (1000, 4000))
    path.write_text(f"**4 GPUs:**\n{four}\n**1 GPU:**\n{one}")
    said = refused(path, **GIVEN)
    assert "line 61: another run begins: `GPU` is 1, and in line 1 it is 4" in said
    assert "head -n 59 train.log > first.log and tail -n +60 train.log" in said


def test_a_number_of_gpus_that_is_said_again_is_no_other_run(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    between = "evaluate on 1 GPU\nrestart on 4 GPUs after 100 GPU hours, on GPU 1\n"
    path.write_text(f"using 4 GPUs\n{steps()}{between}{steps(5)}")
    assert imported(path, **GIVEN).step_s == pytest.approx(0.5)
