"""Console logs of trainers without a reader of their own: lines of their form, written here with known times.

Each maker prints the line of one step. A step takes 0.5 s and has 64 samples or 8192 tokens on 8 devices. The
first one has the start of the run in it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.registry.codes import Limit

TIME_S, START_S, SAMPLES, TOKENS = 0.5, 9.0, 64, 8192
Maker = Callable[[int, float], str]


def imported(path: Path, **given: object) -> ImportedRun:
    """The only run of a file."""
    said = Given(**given)  # type: ignore[arg-type]
    (log,) = read_log(path, said)
    return derive(log, said)


def refused(path: Path, **given: object) -> str:
    with pytest.raises(UserError) as error:
        imported(path, **given)
    return str(error.value)


def stamp(step: int) -> str:
    seconds = START_S + step * TIME_S
    return f"2025-03-04 10:{int(seconds) // 60:02d}:{int(seconds) % 60:02d},{int(seconds * 1000) % 1000:03d}"


def mmengine(step: int, time_s: float) -> str:
    day = stamp(step)[:19].replace("-", "/")
    return f"{day} - mmengine - INFO - Epoch(train)  [1][{step:4d}/900]  lr: 1.0000e-03  eta: 0:07:17  " + (
        f"time: {time_s:.4f}  data_time: 0.0077  memory: 392  loss: 2.5725\n"
    )


def mmcv(step: int, time_s: float) -> str:
    return f"{stamp(step)} - mmdet - INFO - Epoch [1][{step}/900]\tlr: 0.00125, eta: 4:44:04, " + (
        f"time: {time_s:.3f}, data_time: 0.031, memory: 6836, loss_cls: 0.1861, acc: 94.06, loss: 0.4606\n"
    )


def detectron(step: int, time_s: float) -> str:
    return f"[03/04 10:00:{step:02d} d2.utils.events]:  eta: 0:01:51  iter: {step}  total_loss: 1.589  " + (
        f"loss_cls: 1.4  time: 0.4800  last_time: {time_s:.4f}  data_time: 0.0048  lr: 4.9e-06  max_mem: 2030M\n"
    )


def mean_so_far(step: int) -> float:
    return (START_S + (step - 1) * TIME_S) / step


def imagenet(step: int, time_s: float) -> str:
    return (
        f"Epoch: [0][{step:3d}/900]\tTime {time_s:6.3f} ({mean_so_far(step):6.3f})\tData  0.097 ( "
        "0.104)\tLoss 6.0e+00 (6e+00)\n"
    )


def torchvision(step: int, time_s: float) -> str:
    return f"Epoch: [0]  [{step:3d}/900]  eta: 0:06:47  lr: 0.1  img/s: 127.5  loss: 7.29 (7.24)  " + (
        f"acc1: 0.0 (0.13)  time: {time_s:.4f}  data: 0.0019  max mem: 3617\n"
    )


def timm(step: int, time_s: float) -> str:
    rate = SAMPLES / time_s
    return f"Train: 0 [{step:4d}/900 (  0%)]  Loss:  6.973588 (6.9921)  Time: {time_s:.3f}s, {rate:7.2f}/s  " + (
        f"({mean_so_far(step):.3f}s,  116.36/s)  LR: 5.000e-07  Data: 0.006 (0.033)\n"
    )


def openclip(step: int, time_s: float) -> str:
    rate = SAMPLES / time_s
    return (
        f"{stamp(step)[:19].replace(' ', ',')} | INFO | Train Epoch: 0 [{step * SAMPLES:6d}/57600 (1%)] Data (t): "
        + (f"0.029 Batch (t): {time_s:.3f}, {rate:.6g}/s, {rate / 8:.6g}/s/gpu LR: 0.000001 Logit Scale: 14.286\n")
    )


def nanogpt(step: int, time_s: float) -> str:
    return f"iter {step}: loss 3.8716, time {time_s * 1e3:.2f}ms, mfu 31.25%\n"


def modded(step: int, time_s: float) -> str:
    passed = (START_S + step * TIME_S) * 1e3
    return f"step:{step}/900 train_loss:4.3719 train_time:{passed:.0f}ms step_avg:{passed / (step + 1):.2f}ms\n"


def build_nanogpt(step: int, time_s: float) -> str:
    return f"step {step:4d} | loss: 9.224648 | lr: 1.8e-04 | norm: 5.6 | dt: {time_s * 1e3:.2f}ms | tok/sec: " + (
        f"{TOKENS / time_s:.2f}\n"
    )


def llm_c(step: int, time_s: float) -> str:
    rate = TOKENS / time_s
    return (
        f"step {step:4d}/900 | loss  4.27 (+0.1z)| norm  1.2 (+0.3z)| lr 3.00e-04 | "
        f"{time_s * 1e3:.2f} ms | 9.2% bf16" + (f" MFU | {rate:.0f} tok/s\n")
    )


def maxtext(step: int, time_s: float) -> str:
    rate = TOKENS / 8 / time_s
    return (
        f"I0601 22:14:55 metric_logger.py:181] completed step: {step}, seconds: {time_s:.3f}, "
        "TFLOP/s/device: 25.5, " + (f"Tokens/s/device: {rate:.3f}, total_weights: {TOKENS}, loss: 12.2\n")
    )


def nemo(step: int, time_s: float) -> str:
    return (
        f"Training epoch 0, iteration {step}/899 | lr: 1.4e-05 | global_batch_size: {SAMPLES} "
        f"| global_step: {step} | "
        + (
            f"reduced_train_loss: 6.2 | train_step_timing in s: {time_s:.3f} | consumed_samples: "
            f"{(step + 1) * SAMPLES}\n"
        )
    )


def paddle(step: int, time_s: float) -> str:
    rate = SAMPLES / time_s
    return (
        f"[{stamp(step)[:19].replace('-', '/')}] root INFO: epoch: [0/100], iter: {step}, lr: 0.001, loss: 0.69, "
        + (f"reader_cost: 0.01 s, batch_cost: {time_s:.5f} s, samples: {SAMPLES}, ips: {rate:.5f} samples/sec\n")
    )


def tensorflow(step: int, time_s: float) -> str:
    return f"{stamp(step).replace(',', '.')}: step {step}, loss = 1.26 ({SAMPLES / time_s:.1f} examples/sec; " + (
        f"{time_s:.3f} sec/batch)\n"
    )


def yolox(step: int, time_s: float) -> str:
    return (
        f"{stamp(step)[:19]} | INFO     | yolox.core.trainer:261 - epoch: 1/300, iter: {step}/900, mem: 584Mb, "
        + (
            f"iter_time: {time_s:.3f}s, data_time: 0.002s, total_loss: 14.6, lr: 2.2e-11, size: "
            "416, ETA: 11 days\n"
        )
    )


def own(step: int, time_s: float) -> str:
    return f"[worker] step={step} loss=2.25 step_time={time_s * 1e3:.1f} ms samples/s={SAMPLES / time_s:.2f}\n"


STATED: dict[str, tuple[Maker, str, float | None]] = {
    "mmengine": (mmengine, "MMEngine or MMCV console log", None),
    "mmcv": (mmcv, "MMEngine or MMCV console log", None),
    "detectron": (detectron, "Detectron2 console log", None),
    "imagenet": (imagenet, "console log of PyTorch's ImageNet example", None),
    "torchvision": (torchvision, "console log of torchvision's references", None),
    "timm": (timm, "timm console log", SAMPLES),
    "openclip": (openclip, "OpenCLIP console log", SAMPLES),
    "nanogpt": (nanogpt, "nanoGPT console log", None),
    "build-nanogpt": (build_nanogpt, "console log", TOKENS),
    "llm.c": (llm_c, "console log", TOKENS),
    "maxtext": (maxtext, "MaxText console log", TOKENS),
    "nemo": (nemo, "console log", SAMPLES),
    "paddle": (paddle, "PaddlePaddle console log", SAMPLES),
    "tensorflow": (tensorflow, "console log", SAMPLES),
    "yolox": (yolox, "console log", None),
    "own": (own, "console log", SAMPLES),
    "modded": (modded, "modded-nanogpt console log", None),
}
"""Name -> (its line, the name of the format, the work of a step that follows from the lines, if it does)."""


@pytest.mark.parametrize("name", STATED)
def test_step_time_and_batch_of_a_trainer(name: str, tmp_path: Path) -> None:
    line, kind, work = STATED[name]
    path = tmp_path / "out.txt"
    rows = "".join(line(step, START_S if step == 1 else TIME_S) for step in range(1, 41))
    path.write_text("some text in front of it: 12 files\n" + rows + "Test: [  0/40]  Time  9.5 ( 9.5)\n")
    if name != "openclip":
        assert "the number of devices is not in it" in refused(path)
    given = {"devices": 8, "per": "all"} if name != "maxtext" else {"devices": 8}
    if work is None:
        assert "add --batch" in refused(path, **given)
        given["batch"] = SAMPLES
    run = imported(path, **given)
    assert run.log.kind == kind
    assert run.step_s == pytest.approx(TIME_S, rel=0.01)
    assert run.global_batch == pytest.approx(work or SAMPLES, rel=0.01)
    assert run.total_steps == {"torchvision": 20, "mmengine": 30}.get(name, 40)  # no means with the start in them
    assert not any("another form" in remark for remark in run.remarks)


def test_the_devices_that_two_rates_give(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(openclip(step, TIME_S) for step in range(1, 20)))
    assert imported(path).devices == 8


def test_epochs_that_count_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"Epoch: [{epoch}][{step:3d}/100]\tTime  0.500 ( 0.500)\tData  0.01 ( 0.02)\tLoss 6.0e+00 (6.3e+00)\n"
            for epoch in range(3)
            for step in range(0, 100, 10)
        )
    )
    run = imported(path, devices=1, batch=32)
    assert run.steps_per_row == 10
    assert run.total_steps == 291  # two whole epochs and 90 steps, and the first one
    assert run.step_s == pytest.approx(0.5)


def test_an_epoch_per_line_as_keras_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"Epoch {epoch}/4\n 999/1000 [=====>.] - ETA: 0s - loss: 8.17\x08\x08\x08\r"
            f"1000/1000 [======] - {time}s {time}ms/step - loss: 8.31 - val_loss: 7.59\n"
            for epoch, time in ((1, 133), (2, 115), (3, 115), (4, 115))
        )
    )
    run = imported(path, devices=2, batch=64)
    assert run.step_s == pytest.approx(0.115)
    assert run.total_steps == 4000


@pytest.mark.parametrize("every", [1, 10])
def test_iterations_of_which_a_step_has_two(every: int, tmp_path: Path) -> None:
    """litgpt counts micro-batches: the time of a step is that of all of its iterations."""
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"Epoch 1 | iter {one} step {one // 2} | loss train: 2.846, val: n/a | iter time: "
            f"{200 + 20 * (one % 2)}.00 ms\n"
            for one in range(every, 400, every)
        )
    )
    run = imported(path, devices=4, batch=64)
    assert run.accumulation == 2
    assert run.step_s == pytest.approx(0.42 if every == 1 else 0.4, rel=0.01)
    assert "a step is 2 of its iterations" in run.remarks


def test_a_mean_since_the_start_is_one_mean(tmp_path: Path) -> None:
    """Detectron2 before 0.6 prints the mean since the start as `time`."""
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"[11/01 11:27:{step // 20:02d} d2.utils.events]: eta: 8:05:12  iter: {step}  total_loss: 1.012  "
            f"time: {0.5 - step / 1e5:.4f}  data_time: 0.0334  lr: 0.010000  max_mem: 3961M\n"
            for step in range(19, 1000, 20)
        )
    )
    run = imported(path, devices=8, batch=16)
    assert run.step_s == pytest.approx(0.49001, abs=1e-4)
    assert Limit.WHOLE_RUN in run.limits


LEFT_OPEN = "step {step} loss 2.25 time {time:.2f} s\n"


def test_a_time_that_may_be_of_a_step_or_of_a_window_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "log"
    times = [5.0, 5.1, 4.9, 5.0, 5.2]
    path.write_text("".join(LEFT_OPEN.format(step=10 * at, time=time) for at, time in enumerate(times, 1)))
    assert "the time of one step, or of the 10 steps since the row before?" in refused(path, devices=1, batch=8)


@pytest.mark.parametrize(("passed_s", "step_s"), [(5.0, 0.5), (50.0, 5.0)])
def test_time_stamps_show_what_a_time_is_of(passed_s: float, step_s: float, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"2025-03-04 10:{int(at * passed_s) // 60:02d}:{at * passed_s % 60:06.3f} "
            + LEFT_OPEN.format(step=10 * at, time=5.0 + 0.01 * (-1) ** at)
            for at in range(1, 9)
        )
    )
    run = imported(path, devices=1, batch=8)
    assert run.step_s == pytest.approx(step_s, rel=0.01)
    assert any("as the time stamps show" in remark for remark in run.remarks)


def test_a_time_that_rises_is_the_time_since_the_start(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(LEFT_OPEN.format(step=10 * at, time=3 + 5 * at) for at in range(1, 9)))
    run = imported(path, devices=1, batch=8)
    assert run.step_s == pytest.approx(0.5)
    assert Limit.CLOCK in run.limits


def test_a_time_without_a_unit_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(f"step {step} | loss: 2.25 | step_time: 0.5 | samples/s: 128\n" for step in range(1, 9))
    )
    assert "a time without a unit; add --time s" in refused(path, devices=1)
    assert imported(path, devices=1, time="s").step_s == pytest.approx(0.5)
    assert imported(path, devices=1, time="ms").step_s == pytest.approx(0.0005)


def test_the_time_of_data_is_not_that_of_a_step(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"Train: 1/3 [ {step}/900] Data time: 0.01(0.02)  Forward time: 0.3(0.3)  Batch time: 0.5(0.5) s\n"
            for step in range(1, 9)
        )
    )
    assert imported(path, devices=8, batch=64, time="s").step_s == pytest.approx(0.5)


def test_rows_of_the_first_rank_count(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"[rank{rank}] step {step} | loss: 2.25 | step_time: {0.5 + rank:.2f} s\n"
            for step in range(1, 9)
            for rank in (0, 1)
        )
    )
    run = imported(path, devices=2, batch=8)
    assert run.step_s == pytest.approx(0.5)
    assert "8 rows of other ranks are left out: those of rank 0 count" in run.remarks


def test_lines_that_repeat_the_row_before(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"INFO: global step {step}: loss = 7.3 ({0.5 + step / 1e4:.4f} sec/step)\n" * 2 for step in range(9)
        )
    )
    run = imported(path, devices=2, batch=8)
    assert run.step_s == pytest.approx(0.5, rel=0.01)
    assert "9 lines repeat the row before and are left out" in run.remarks


def test_the_time_of_a_part_is_not_that_of_a_step(tmp_path: Path) -> None:
    """ESPnet's iter_time is that of the loader, and train_time that of several batches: the clock counts."""
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"[gpu01:0/2] {stamp(200 * at)} (trainer:464) INFO: 1epoch:train:{200 * at + 1}-{200 * at + 200}batch"
            ": iter_time=2.878e-04, forward_time=0.134, loss=123.9, backward_time=0.111, train_time=2.000\n"
            for at in range(6)
        )
    )
    run = imported(path, devices=2, batch=8)
    assert run.step_s == pytest.approx(TIME_S)
    assert run.steps_per_row == 200


def test_the_time_of_rows_of_a_tensorflow_estimator(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"INFO:tensorflow:global_step/sec: 2\nINFO:tensorflow:loss = 1.4e-08, step = {step} (50.000 sec)\n"
            for step in range(100, 1000, 100)
        )
    )
    assert imported(path, devices=2, batch=8).step_s == pytest.approx(0.5)


@pytest.mark.parametrize("head", ["tokens per iteration will be: 65,536\n", "INFO tokens_per_step=65536\n"])
def test_the_tokens_of_a_step_in_front_of_the_rows(head: str, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(head + "".join(nanogpt(step, TIME_S) for step in range(1, 41)))
    run = imported(path, devices=8)
    assert (run.global_batch, run.unit) == (65536, "tokens")
    path.write_text(head + "".join(own(step, TIME_S) for step in range(1, 41)))
    assert imported(path, devices=8, per="all").unit == "samples"


def test_lines_with_steps_and_no_time_are_refused_with_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"iteration: {step} loss: 2.5\n" for step in range(9)))
    said = refused(path)
    assert "no line has both a step number and a time" in said
    assert "`iteration: 0 loss: 2.5`" in said


@pytest.mark.parametrize("name", STATED)
def test_a_last_line_that_is_cut_off(name: str, tmp_path: Path) -> None:
    line, _, work = STATED[name]
    path = tmp_path / "log"
    whole = "".join(line(step, TIME_S) for step in range(1, 20))
    path.write_text(whole + line(20, TIME_S)[:-9])
    given = {"devices": 8, "per": "device" if name == "maxtext" else "all", "batch": work or SAMPLES}
    assert imported(path, **given).total_steps < 20


def test_a_large_first_part_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("loading shard 7 of 100\n" * 15_000 + "".join(nanogpt(step, TIME_S) for step in range(1, 20)))
    assert imported(path, devices=8, batch=SAMPLES).step_s == pytest.approx(TIME_S)
