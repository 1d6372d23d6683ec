"""fairseq, OLMo and the Hugging Face Trainer: files of their form, written here with known times; and facts that
follow from what other logs print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.registry.codes import Limit


def imported(path: Path, **given: object) -> ImportedRun:
    """The only run of a file."""
    said = Given(**given)  # type: ignore[arg-type]
    (log,) = read_log(path, said)
    return derive(log, said)


def fairseq_json(step: int) -> str:
    row = {
        "epoch": 1,
        "update": 0.1,
        "loss": "9.2",
        "wps": "16384",
        "ups": "2",
        "wpb": "8192",
        "num_updates": str(step),
    }
    return f"2021-03-08 12:43:15 | INFO | train_inner | {json.dumps(row)}\n"


def fairseq_text(step: int) -> str:
    return (
        f"| epoch 001:   {step} / 2000 loss=9.2, ppl=611.1, wps=16384, ups=2, wpb=8192, "
        f"bsz=64, num_updates={step}, " + ("lr=2.8e-05, gnorm=3.23, train_wall=13, wall=1236\n")
    )


@pytest.mark.parametrize("line", [fairseq_json, fairseq_text])
def test_fairseq(line, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log"
    epoch = '{"epoch": 1, "train_loss": "9.2", "train_wps": "1", "train_wpb": "8192", "train_num_updates": "900"}'
    path.write_text(
        "2021-03-08 12:42:00 | INFO | fairseq_cli.train | training on 4 devices (GPUs/TPUs)\n"
        + "".join(line(step) for step in range(100, 1000, 100))
        + f"2021-03-08 12:43:15 | INFO | train | {epoch}\n"
    )
    run = imported(path)
    assert (run.devices, run.global_batch, run.unit, run.steps_per_row) == (4, 8192, "tokens", 100)
    assert run.step_s == pytest.approx(0.5)


def test_fairseq_whose_rates_are_means_since_the_start(tmp_path: Path) -> None:
    """Early versions divide all words by all of the time; a step takes 0.6 s after a start of 500 s."""
    path = tmp_path / "log"
    walls = [500 + 0.6 * step + 400 * (step > 1500) for step in range(100, 2000, 100)]
    path.write_text(
        "".join(
            f"| epoch 001:   {step} / 2000 loss=9.2, wps={8190 * step / wall:.0f}, ups=0, wpb=8190.5, bsz=64, "
            f"num_updates={step}, lr=2.8e-05, wall={wall:.0f}, train_wall=13\n"
            for step, wall in zip(range(100, 2000, 100), walls, strict=True)
        )
    )
    run = imported(path, devices=8)
    assert run.step_s == pytest.approx(0.6, rel=0.02), "the validation at 1500 steps is left out"
    assert run.global_batch == 8192, "the median, such that it divides among the devices"


def test_fairseq_with_the_means_of_epochs_only(tmp_path: Path) -> None:
    path = tmp_path / "log"
    row = {"epoch": 1, "train_wps": "16384", "train_wpb": "8192", "train_num_updates": "900"}
    path.write_text(f"2021-03-08 12:43:15 | INFO | train | {json.dumps(row)}\n")
    run = imported(path, devices=4)
    assert run.step_s == pytest.approx(0.5)
    assert "each row is the mean of an epoch, with its start" in run.remarks


def test_a_damaged_row_of_fairseq_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(fairseq_json(100) + fairseq_json(200).replace('"wps"', "wps"))
    with pytest.raises(UserError, match="line 2: not a complete line of fairseq console log"):
        imported(path, devices=4)


@pytest.mark.parametrize("name", ["tokens_per_second", "TPS"])
def test_olmo(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "2025-12-12 11:03:40.016\tnode:0\ttrain:98\tINFO\tTrainConfig(max_sequence_length=2048, "
        "global_train_batch_size=512, device_train_batch_size=64, device_train_microbatch_size=8)\n"
        + "".join(
            f"2025-12-12 11:05:{step:02d}.850\tnode:0\tolmo.train:979\tINFO\t[step={step}/15000,epoch=0]\n"
            f"    train/CrossEntropyLoss=2.919\n    throughput/total_tokens={step * 1048576:,}\n"
            + (f"    throughput/device/{name}=131,072\n" if step > 1 else "")
            for step in range(1, 30)
        )
    )
    run = imported(path)
    assert (run.devices, run.global_batch, run.unit) == (8, 512 * 2048, "tokens")
    assert run.step_s == pytest.approx(1.0)
    assert run.total_steps == 28


ENDED = {"epoch": 3.0, "train_loss": 3.25, "train_runtime": 250.0, "train_samples_per_second": 64.0}


def test_the_results_that_the_trainer_writes(tmp_path: Path) -> None:
    path = tmp_path / "all_results.json"
    path.write_text(json.dumps(ENDED | {"train_steps_per_second": 2.0, "eval_loss": 3.1}, indent=4))
    run = imported(path, devices=4)
    assert (run.global_batch, run.total_steps) == (32, 500)
    assert run.step_s == pytest.approx(0.5)
    assert Limit.WHOLE_RUN in run.limits


def test_the_console_of_the_trainer(tmp_path: Path) -> None:
    path = tmp_path / "out.log"
    path.write_text(
        "  Instantaneous batch size per device = 32\n  Gradient Accumulation steps = 1\n"
        "  Total optimization steps = 500\n"
        "{'loss': 2.9, 'learning_rate': 1.3e-05, 'epoch': 0.06}\n"
        f"{ENDED | {'train_steps_per_second': 2.0}}\n100%|####| 500/500 [04:10<00:00, 2.00it/s]\n"
    )
    run = imported(path)
    assert (run.devices, run.global_batch, run.total_steps) == (1, 32, 500)
    assert run.step_s == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("front", "behind", "steps"),
    [
        ("", "TrainOutput(global_step=200, training_loss=3.2)\n", 200),
        ("  Num examples = 6,400\n  Total train batch size (w. parallel) = 96\n", "", 201),
        ("  Continuing training from global step 300\n", "", 200),
        ("  Resuming training from checkpoint with epoch 1 and global step 300\n", "", 200),
    ],
    ids=["its steps are printed", "its epochs are printed", "continued", "continued, as transformers 5 says"],
)
def test_the_console_of_a_training_that_did_a_part_of_its_steps(
    front: str, behind: str, steps: int, tmp_path: Path
) -> None:
    path = tmp_path / "out.log"
    end = ENDED | {"train_steps_per_second": 2.0}
    path.write_text(f"  Total optimization steps = 500\n{front}{end}\n{behind}")
    run = imported(path, devices=4)
    assert (run.total_steps, run.global_batch) == (steps, 32)
    assert run.step_s == pytest.approx(250.0 / steps)


def test_the_devices_follow_from_the_batches_that_the_trainer_prints(tmp_path: Path) -> None:
    """A step of 32 samples, 2 times 4 per device, is of 4 devices. The last step has fewer samples."""
    path = tmp_path / "out.log"
    end = ENDED | {"train_samples_per_second": 63.9, "train_steps_per_second": 2.0}
    path.write_text(
        "  Instantaneous batch size per device = 4\n  Gradient Accumulation steps = 2\n"
        f"  Total optimization steps = 500\n{end}\n"
    )
    run = imported(path)
    assert (run.devices, run.global_batch) == (4, 32)
    assert "32 samples per step, 8 per device: 4 devices" in run.remarks


def test_one_device_where_a_step_has_the_samples_of_one(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    end = ENDED | {"train_steps_per_second": 2.0, "step": 500}
    path.write_text(
        json.dumps({"best_metric": None, "global_step": 500, "log_history": [end], "train_batch_size": 32})
    )
    assert imported(path).devices == 1


def megatron(step: int, more: str = "", front: str = "") -> str:
    return (
        f"{front} iteration {step:8d}/     500 | consumed samples: {64 * step} | elapsed time "
        "per iteration (ms): 500.0 |"
        f" learning rate: 1.5E-04 | global batch size:    64 | lm loss: 3.25E+00 |{more}\n"
    )


@pytest.mark.parametrize(
    ("front", "more"),
    [
        ("[20251202 09:12:08][rank-7/16][INFO ] : ", ""),
        ("", " actual seqlen:  1024 | samples per second: 128.0 | tokens per gpu per second (tgs): 8192.000 |"),
    ],
)
def test_devices_that_follow_from_a_row_of_megatron(front: str, more: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(megatron(step, more, front) for step in range(1, 20)))
    assert imported(path).devices == 16


def test_the_form_of_megatron_with_equal_signs(tmp_path: Path) -> None:
    """ALCF's fork prints DeepSpeed's rate of its last micro-step as well, which does not count."""
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"[2024-04-21 02:45:{step:02d},722] [INFO] [timer.py:260:stop] "
            f"epoch=0/micro_step={step}/global_step={step}, "
            "RunningAvgSamplesPerSec=512.0, CurrSamplesPerSec=512.0, MemAllocated=4.75GB, "
            "MaxMemAllocated=15.59GB\n"
            f"[2024-04-21 02:45:{step:02d}][INFO][training:1251] -  iteration={step:8d}/  317892 | "
            "consumed_samples=64 | "
            "elapsed_time_per_iteration_ms=500.0 | learning_rate=0.0 | global_batch_size=   64 | lm loss=11.2 |\n"
            for step in range(1, 20)
        )
    )
    run = imported(path, devices=8)
    assert run.step_s == pytest.approx(0.5)
    assert run.global_batch == 64


def test_the_batch_that_the_time_between_rows_gives(tmp_path: Path) -> None:
    """A throughput of torchtitan is a mean since the last row, and its time stamps are exact."""
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"[rank0]:[titan] 2025-10-30 14:32:{step:02d},{'097' if step % 2 else '098'} - root - "
            f"INFO - step: {step:2}  "
            "loss:  8.1661  grad_norm:  3.6855  memory:  2.47GiB(3.12%)  tps: 8,192  tflops: 1.90  mfu: 0.19%\n"
            for step in range(1, 30)
        )
    )
    run = imported(path, devices=4)
    assert run.global_batch == pytest.approx(4 * 8192, rel=0.01)
    assert any("from throughput times the time between rows" in remark for remark in run.remarks)


def test_the_work_done_in_the_only_row_gives_the_batch(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    data = {"train_step_timing in s": 0.5, "consumed_samples": 48 * 64, "global_step": 47}
    path.write_text(
        "DLLL " + json.dumps({"type": "LOG", "timestamp": "1.0", "step": 47, "data": data}, indent=2) + "\n"
    )
    assert imported(path, devices=8).global_batch == 64


def test_times_of_epochs_beside_steps(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(
        "epoch,epoch_time,step,train_loss\n"
        + "".join(
            f"{epoch},,{200 * epoch + 150},2.5\n{epoch},100.0,{200 * epoch + 199},2.4\n" for epoch in range(8)
        )
    )
    with pytest.raises(UserError, match="column epoch_time: a time without a unit"):
        imported(path, devices=2, batch=64)
    run = imported(path, devices=2, batch=64, time="s")
    assert run.step_s == pytest.approx(0.5)
    assert run.steps_per_row == 200


def test_mmengine_json(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    row = {"mode": "train", "epoch": 1, "lr": 0.05, "data_time": 0.004, "loss": 5.7, "time": 0.5}
    path.write_text("".join(json.dumps(row | {"iter": step}) + "\n" for step in range(50, 1000, 50)))
    assert imported(path, devices=8, batch=64).step_s == pytest.approx(0.5)


@pytest.mark.parametrize("text", ["epoch,loss,acc\n1,2.5,0.5\n2,2.4,0.6\n", "loss\tEPE\n2.5\t0.5\n2.4\t0.6\n"])
def test_a_table_without_times_is_refused_with_its_columns(text: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(UserError, match="a table without a step number, a time of a step, a throughput"):
        imported(path)


def test_a_start_in_a_log_of_few_rows(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("step,step_time_s\n1,9.0\n2,0.5\n3,0.5\n")
    run = imported(path, devices=1, batch=8)
    assert run.step_s == pytest.approx(0.5)
    assert any("has the start in it" in remark for remark in run.remarks)
