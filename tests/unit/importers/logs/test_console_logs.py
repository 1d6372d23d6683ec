"""Console logs as their tools print them: copies of the print statements of several versions, with known times."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.registry.codes import Limit

STEPS = range(10, 210, 10)


def imported(path: Path, **given: object) -> ImportedRun:
    """The only run of a file."""
    said = Given(**given)  # type: ignore[arg-type]
    (log,) = read_log(path, said)
    return derive(log, said)


def clock(seconds: float) -> str:
    return f"{int(seconds // 3600):02d}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"


def megatron(step: int, *, stamp: bool, time_ms: float = 500.0, batch: int = 64) -> str:
    """The line of training_log (megatron/training.py); `stamp` since 2024."""
    line = f" [2025-01-31 {clock(step * time_ms / 1e3)}]" if stamp else ""
    line += f" iteration {step:8d}/{500:8d} |"
    line += f" consumed samples: {step * batch:12d} |"
    line += f" elapsed time per iteration (ms): {time_ms:.1f} |"
    if stamp:
        line += f" throughput per GPU (TFLOP/s/GPU): {401.3:.1f} |"
    line += f" learning rate: {1.5e-4:.3E} |"
    line += f" global batch size: {batch:5d} |"
    line += f" lm loss: {3.25:.6E} | loss scale: {1.0:.1f} | grad norm: {1.5:.3f} |"
    return line + f" number of skipped iterations: {0:3d} | number of nan iterations: {0:3d} |\n"


WORLDS = (
    "using world size: 8, data-parallel-size: 8, tensor-model-parallel size: 1, pipeline-model-parallel size: 1"
    " \n",
    "using world size: 8, data-parallel size: 4, context-parallel size: 1, hierarchical context-parallel sizes:"
    " None, tensor-model-parallel size: 2, pipeline-model-parallel size: 1\n",
)


@pytest.mark.parametrize("stamp", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_megatron(tmp_path: Path, stamp: bool, world: str) -> None:
    log = tmp_path / "log"
    log.write_text(world + "".join(megatron(step, stamp=stamp) for step in STEPS))
    run = imported(log)
    assert (run.devices, run.global_batch, run.unit, run.steps_per_row) == (8, 64, "samples", 10)
    assert run.step_s == pytest.approx(0.5)
    assert run.throughput == pytest.approx(128)
    assert run.counts.sum() == len(STEPS) - 1  # the first window has the start of the run
    assert Limit.AVERAGED in run.limits
    assert run.loss[0] == pytest.approx(3.25)


def test_megatron_of_its_relatives(tmp_path: Path) -> None:
    """Megatron-DeepSpeed prints both lines; ROCm's fork prints the time as LAST/MEAN; another misspells the
    batch."""
    text = megatron(10, stamp=False)
    both = "[2024-03-07 15:27:02,646] [INFO] [timer.py:260:stop] epoch=0/micro_step=199/global_step=199,"
    both += (
        " RunningAvgSamplesPerSec=58.7, CurrSamplesPerSec=61.35, MemAllocated=6.01GB, MaxMemAllocated=19.52GB\n"
    )
    for old, new in (
        ("", ""),
        (": 500.0 |", ": 500.0/501.0 |"),
        ("global batch size", "gl" + "oabl batch size"),
        (" iteration  ", "[default7]: iteration  "),
    ):
        log = tmp_path / "log"
        log.write_text(
            both
            + "".join(
                text.replace("iteration       10", f"iteration {step:8d}").replace(old, new) for step in STEPS
            )
        )
        (read,) = read_log(log, Given())
        assert read.kind == "Megatron-LM console log"
        assert imported(log, devices=8).step_s == pytest.approx(0.5)


def test_megatron_ramps_its_batch(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [
        megatron(step, stamp=False, batch=32 if step < 60 else 64, time_ms=300 if step < 60 else 500)
        for step in STEPS
    ]
    log.write_text("".join(lines))
    run = imported(log, devices=8)
    assert run.global_batch == 64
    assert run.step_s == pytest.approx(0.5)
    assert any("5 rows of smaller batches are left out" in remark for remark in run.remarks)


def test_two_runs_in_one_log_are_refused_at_the_second(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = WORLDS[0] + "".join(megatron(step, stamp=False) for step in STEPS)
    log.write_text(first + first.replace("world size: 8", "world size: 16"))
    with pytest.raises(ValueError, match=r"log, line 22: a second run begins here, on 16 devices after 8"):
        imported(log)


DEEPSPEED = (
    "[2023-11-07 01:{clock},711] [INFO] [timer.py:260:stop] epoch=0/micro_step={micro}/global_step={step},"
    " RunningAvgSamplesPerSec=25.02, CurrSamplesPerSec=32.0, MemAllocated=4.32GB, MaxMemAllocated=38.49GB\n",
    "[2022-08-29 06:{clock},176] [INFO] [timer.py:198:stop] 0/{step}, RunningAvgSamplesPerSec=232.73,"
    " CurrSamplesPerSec=32.0, MemAllocated=0.36GB, MaxMemAllocated=15.06GB\n",
)


@pytest.mark.parametrize("line", DEEPSPEED)
def test_deepspeed(tmp_path: Path, line: str) -> None:
    log = tmp_path / "log"
    head = "[2023-11-07 01:00:00,000] [INFO] [config.py:958:print]   train_batch_size ............. 64\n"
    head += "[2023-11-07 01:00:00,000] [INFO] [config.py:958:print]   gradient_accumulation_steps .. 4\n"
    head += "[2023-11-07 01:00:00,000] [INFO] [config.py:958:print]   bfloat16_enabled ............. True\n"
    head += "[2023-11-07 01:00:00,000] [INFO] [config.py:958:print]   world_size ................... 4\n"
    text = (line.format(step=step, micro=4 * step, clock=clock(step * 2.0)[3:]) for step in STEPS)
    log.write_text(head + "".join(text))
    run = imported(log)
    assert (run.devices, run.global_batch, run.accumulation, run.log.facts.precision) == (4, 64, 4, "bf16")
    assert run.step_s == pytest.approx(2.0)
    assert Limit.AVERAGED not in run.limits, "a line has the rate of its last step"


TITAN = (
    "[rank0]:[titan] 2025-10-30 14:{clock},897 - root - INFO - step: {step:2}  loss:  8.1661  grad_norm:  3.6855 "
    " memory:  2.47GiB(3.12%)  tps: 4,096  tflops: 1.90  mfu: 0.19%\n",
    "[rank0]:2025-02-13 11:{clock},026 - root - INFO - step: {step:2}  loss: 12.2417  memory: 42.08GiB(30.10%) "
    " tps: 4,096  mfu: 8.65%\n",
    "2024-10-03 16:{clock},481 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss: 10.8235  \x1b[33mmemory: "
    "26.73GiB(60.17%)  \x1b[34mwps: 4,096  \x1b[35mmfu: 16.15%\x1b[39m\n",
)
MESHES = (
    "[rank0]:2025-02-13 11:00:00,000 - root - INFO - Building 2-D device mesh with ['dp_replicate', 'dp_shard'],"
    " [2, 4]\n",
    "[titan] INFO - Building device mesh with parallelism: pp=1, dp_replicate=2, dp_shard=4, cp=1, tp=1, ep=1\n",
)


@pytest.mark.parametrize("line", TITAN)
@pytest.mark.parametrize("mesh", MESHES)
def test_torchtitan(tmp_path: Path, line: str, mesh: str) -> None:
    log = tmp_path / "log"
    start = "Training starts at step 1, with local batch size 2, global batch size 16, sequence length 2048, total"
    # tps is per device: 16 x 2048 tokens on 8 devices at 4096 tokens/s each take 1 s.
    text = (line.format(step=step, clock=clock(step)[3:]) for step in (1, *STEPS))
    log.write_text(
        mesh + f"[rank0]:2025-02-13 11:00:00,100 - root - INFO - {start} steps 100 (warmup 2)\n" + "".join(text)
    )
    run = imported(log)
    assert (run.devices, run.global_batch, run.unit) == (8, 16 * 2048, "tokens")
    assert run.step_s == pytest.approx(1.0)
    assert run.throughput == pytest.approx(8 * 4096)
    assert {Limit.TOKENS, Limit.AVERAGED} <= set(run.limits)


def test_torchtitan_of_several_ranks_counts_the_first(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [TITAN[0].format(step=step, clock=clock(step)[3:]) for step in STEPS]
    log.write_text(
        MESHES[0] + "".join(line.replace("rank0", f"rank{rank}") for line in lines for rank in (1, 0, 2))
    )
    run = imported(log, batch=16 * 2048)
    assert len(run.step_time_s) == len(STEPS)
    assert any("40 rows of other ranks are left out: those of rank 1 count" in remark for remark in run.remarks)


@pytest.mark.parametrize("name", ["elapsed_time_per_iteration_ms", "time_per_iteration_ms"])
def test_nanotron(tmp_path: Path, name: str) -> None:
    log = tmp_path / "log"
    line = "10/01/2024 12:{clock} [INFO|DP=0|PP=0|TP=0|ip-26-0-160-225]: iteration: {step} / 200 |"
    line += f" consumed_tokens: 4.1M | {name}: 1.02K | tokens_per_sec: 1.03M | tokens_per_sec_per_gpu: 16.1K |"
    line += " global_batch_size: 256 | lm_loss: 10.5 | lr: 0.0003 | model_tflops_per_gpu: 120 | grad_norm: 1.2\n"
    log.write_text("".join(line.format(step=step, clock=clock(step * 1.02)[3:]) for step in range(1, 40)))
    run = imported(log, sequence_length=4096)
    assert (run.devices, run.global_batch, run.unit) == (64, 256 * 4096, "tokens")
    assert run.step_s == pytest.approx(1.02)
    assert Limit.ROUNDED in run.limits


def test_a_line_that_is_cut_off_is_left_out_at_the_end_and_refused_elsewhere(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [megatron(step, stamp=False) for step in STEPS]
    log.write_text("".join(lines)[:-150])
    assert len(imported(log, devices=8).step_time_s) == len(STEPS) - 1
    lines[3] = lines[3][:90] + "\n"
    log.write_text("".join(lines))
    with pytest.raises(ValueError, match=r"log, line 4: not a complete line of Megatron-LM console log"):
        imported(log, devices=8)


def test_a_relative_of_megatron_that_prints_a_rate_and_no_batch(tmp_path: Path) -> None:
    """As GPT-NeoX does, beside the lines of DeepSpeed."""
    lines = []
    for step in range(10, 60):
        lines.append(
            f"[2023-07-25 21:03:{step},269] [INFO] [timer.py:215:stop] epoch=0/micro_step={step}/"
            f"global_step={step}, RunningAvgSamplesPerSec=7.9, CurrSamplesPerSec=8.0, MemAllocated=59.6GB"
        )
        lines.append(
            f" samples/sec: 7.799 | iteration {step:8d}/   10000 | elapsed time per iteration (ms): 4103.1 |"
            " learning rate: 2.111E-06 | approx flops per GPU: 112.9TFLOPS | lm_loss: 1.118665E+01 |"
        )
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    run = imported(path, devices=8)
    assert run.step_s == pytest.approx(4.1031)
    assert run.global_batch == 32
    assert "32 samples per step, from throughput times step time" in run.log.remarks


@pytest.mark.parametrize(
    "stamp", ["[2022-03-11 02:{:02d}:{:02d},985] [INFO] [timer.py:189:stop]", "[INFO 2022-03-11 02:{:02d}:{:02d}]"]
)
def test_deepspeed_that_printed_means_since_the_start(tmp_path: Path, stamp: str) -> None:
    """They lag behind, and were counted in micro-steps: the time between the lines counts."""
    lines = [
        f"{stamp.format(15 * at // 60, 15 * at % 60)} 0/{10 * at}, SamplesPerSec=83.4, MemAllocated=0.3GB"
        for at in range(1, 30)
    ]
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    run = imported(path, devices=4, batch=64)
    assert run.step_s == pytest.approx(1.5, rel=1e-3)
    assert any("means since the start" in remark for remark in run.log.remarks)


def test_time_between_steps_is_a_remark(tmp_path: Path) -> None:
    """DeepSpeed's timer leaves out loading: 2.25 s pass per step, of which a step is 0.14 s."""
    lines = [
        f"[2022-08-29 06:{45 * at // 120:02d}:{45 * at // 2 % 60:02d},100] [INFO] [timer.py:198:stop] 0/{10 * at},"
        " RunningAvgSamplesPerSec=227.0, CurrSamplesPerSec=227.5, MemAllocated=0.36GB, MaxMemAllocated=15.06GB"
        for at in range(1, 40)
    ]
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    run = imported(path, devices=1, batch=32)
    assert run.step_s == pytest.approx(32 / 227.5)
    (remark,) = (one for one in run.remarks if one.startswith("time stamps give"))
    assert "16 times the step time" in remark
    assert not [one for one in imported(path, devices=1, batch=512).remarks if one.startswith("time stamps give")]


def test_a_batch_in_samples_of_a_log_in_tokens_is_asked_for_in_tokens(tmp_path: Path) -> None:
    lines = [
        f"[rank0]:[titan] 2025-10-30 14:32:{step:02d},897 - root - INFO - step: {step}  loss:  8.1661"
        "  grad_norm:  3.6855  memory:  2.47GiB(3.12%)  tps: 16,384  tflops: 1.90  mfu: 0.19%"
        for step in range(1, 50)
    ]
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match="For 8 samples add --batch log=16384"):
        imported(path, devices=1, batch=8, sequence_length=2048)
    assert imported(path, devices=1, batch=16384, sequence_length=2048).step_s == pytest.approx(1.0)


def test_deepspeed_behind_the_time_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"2021-05-29 21:07:{8 + at:02d} run7: [2021-05-29 21:07:{at:02d},575] [INFO] [timer.py:157:stop]"
            f" 0/{at * 10}, SamplesPerSec=626.1\n"
            for at in range(1, 50)
        )
    )
    assert imported(path, devices=4, batch=64).step_s == pytest.approx(0.1)
