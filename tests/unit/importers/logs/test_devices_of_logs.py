"""Where the number of devices of a log comes from, if its rows do not say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.logs.commands import devices_of_command
from scalestudy.importers.logs.file_names import devices_named
from test_logs_of_any_trainer import imported, refused

ROWS = "".join(f"step {step} | loss 2.5 | step time 0.50{step % 3} s\n" for step in range(1, 30))


@pytest.mark.parametrize(
    ("command", "devices"),
    [
        ("+ torchrun --nproc_per_node=8 train.py --batch 32", 8),
        ("torchrun --nnodes 2 --nproc-per-node 4 train.py", 8),
        ("python -m torch.distributed.run --nnodes=4 --nproc_per_node=8 --node_rank=0 train.py", 32),
        ("python -m torch.distributed.launch --nproc_per_node=2 train.py", 2),
        ("accelerate launch --num_machines 2 --num_processes 16 train.py", 16),
        ("deepspeed --num_gpus 4 train.py --deepspeed", 4),
        ("deepspeed --num_nodes 2 --num_gpus 8 train.py", 16),
        ("mpirun -np 12 --hostfile hosts python train.py", 12),
        ("horovodrun -np 4 -H localhost:4 python train.py", 4),
        ("torchrun --nnodes=$SLURM_NNODES --nproc_per_node=8 train.py", None),
        ("torchrun --nnodes=1:4 --nproc_per_node=8 train.py", None),
        ("torchrun --nproc_per_node=gpu train.py", None),
        ("torchrun --standalone train.py", None),
        ("python train.py --num_processes 4", None),
        ("torchrun --nproc_per_node=0 train.py", None),
    ],
)
def test_the_devices_of_a_command(command: str, devices: int | None) -> None:
    assert devices_of_command(command.encode()) == devices


def test_the_command_in_a_log_counts_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(f"$ torchrun --nnodes=2 --nproc_per_node=4 train.py\n{ROWS}")
    run = imported(path, batch=64)
    assert run.devices == 8
    assert "the number of devices is that of the command in it that starts the ranks" in run.remarks
    assert imported(path, batch=64, devices=2).devices == 2


@pytest.mark.parametrize(
    "begin",
    [
        "torchrun --nproc_per_node=2 a.py\ntorchrun --nproc_per_node=4 b.py\n",
        "usage: torchrun --nproc_per_node=N\n",
    ],
    ids=["two", "help"],
)
def test_commands_that_do_not_agree_or_are_help_do_not_count(tmp_path: Path, begin: str) -> None:
    path = tmp_path / "train.log"
    path.write_text(begin + ROWS)
    assert "the number of devices is not in it" in refused(path, batch=64)


def test_a_stated_world_size_counts_more_than_a_command(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(f"torchrun --nproc_per_node=4 train.py\nworld size: 16\n{ROWS}")
    run = imported(path, batch=64)
    assert run.devices == 16
    assert not any("command" in remark for remark in run.remarks)


@pytest.mark.parametrize(
    ("name", "devices"),
    [
        ("train_4gpu.log", 4),
        ("ddp-8gpus.txt", 8),
        ("gpus=16.log", 16),
        ("resnet50-np2.log", 2),
        ("run_2x4.log", 8),
        ("2nodes_8gpus.out", None),
        ("world_size_32.log", 32),
        ("runs/4gpu/train.log", 4),
        ("scaling/ranks-2/2026/train.log", 2),
        ("a100.log", None),
        ("resnet50.log", None),
        ("slurm-123456.out", None),
        ("train-lr0.1.log", None),
        ("gpt2-xl.log", None),
        ("gpu0.log", None),
        ("epoch4.log", None),
        ("1024x768x3.log", None),
    ],
)
def test_the_devices_that_a_name_says(name: str, devices: int | None) -> None:
    assert devices_named(Path(name)) == devices


def test_the_devices_of_a_name_are_proposed_and_never_taken(tmp_path: Path) -> None:
    path = tmp_path / "train-4gpu.log"
    path.write_text(ROWS)
    words = refused(path, batch=64)
    assert "its name says 4: add --gpus train-4gpu.log=4, or the right number" in words


@pytest.mark.parametrize(
    "rates", ["tps {:.2f}({:.2f}/gpu)", "{:.2f} tok/s ({:.2f}/gpu)", "tokens/s: {:.2f} ({:.2f}/device)"]
)
def test_the_ratio_of_a_rate_to_that_of_one_device(rates: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"step {step} | loss 2.5 | {rates.format(31346.4 + step, 3918.3 + step / 8)} | mem 24\n"
            for step in range(1, 30)
        )
    )
    run = imported(path, batch=32768)
    assert (run.devices, run.unit) == (8, "tokens")
    assert run.step_s == pytest.approx(32768 / 31362, rel=0.001)


def test_the_devices_of_a_trainer_that_was_killed(tmp_path: Path) -> None:
    """Its bars are all that it printed; a step of 32 samples, 2 times 4 per device, is of 4 devices."""
    path = tmp_path / "out.log"
    path.write_text(
        "***** Running training *****\n  Num examples = 20,000\n  Instantaneous batch size per device = 4\n"
        "  Total train batch size (w. parallel, distributed & accumulation) = 32\n"
        "  Gradient Accumulation steps = 2\n"
        + "".join(
            f" {at // 6:3d}%|#  | {at}/625 [{at // 60:02d}:{at % 60:02d}<05:00, 1.00it/s]\n" for at in range(600)
        )
        + "slurmstepd: error: *** JOB 4711 CANCELLED DUE TO TIME LIMIT ***\n"
    )
    run = imported(path)
    assert (run.devices, run.global_batch) == (4, 32)
    assert run.step_s == pytest.approx(1.0)
