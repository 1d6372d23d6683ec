"""Formats of JSON: trainer_state.json, MLPerf's log and Kineto's traces, by the fields that their tools write."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.registry.codes import Limit


def imported(path: Path, **given: object) -> ImportedRun:
    said = Given(**given)  # type: ignore[arg-type]
    (log,) = read_log(path, said)
    return derive(log, said)


def trainer_state(**end: object) -> dict[str, Any]:
    """As transformers.TrainerState.save_to_json writes it (sorted keys, 2 spaces)."""
    history: list[dict[str, Any]] = [
        {"epoch": step / 100, "grad_norm": 1.0, "learning_rate": 1e-4, "loss": 2.0, "step": step}
        for step in range(10, 110, 10)
    ]
    last = {
        "epoch": 1.0,
        "step": 100,
        "total_flos": 1e15,
        "train_loss": 1.5,
        "train_runtime": 50.0,
        "train_samples_per_second": 64.0,
        "train_steps_per_second": 2.0,
    }
    return {
        "best_global_step": None,
        "best_metric": None,
        "best_model_checkpoint": None,
        "epoch": 1.0,
        "global_step": 100,
        "is_local_process_zero": True,
        "is_world_process_zero": True,
        "log_history": [*history, last | end] if end != {"none": True} else history,
        "logging_steps": 10,
        "max_steps": 100,
        "train_batch_size": 8,
    }


def test_trainer_state(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(trainer_state(), indent=2, sort_keys=True) + "\n")
    run = imported(path, devices=4)
    assert run.step_s == pytest.approx(0.5)
    assert (run.global_batch, run.unit, run.total_steps) == (32, "samples", 100)
    assert Limit.WHOLE_RUN in run.limits
    assert any("8 per device: 4 devices times accumulation" in remark for remark in run.remarks)


def test_trainer_state_of_a_resumed_training_counts_the_last_part(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(trainer_state(train_runtime=20.0)))
    run = imported(path, devices=4)
    assert run.step_s == pytest.approx(0.5)
    assert any("training was resumed" in remark for remark in run.remarks)


def test_trainer_state_of_a_training_that_stopped_early(tmp_path: Path) -> None:
    """Before transformers 5 the rates divide the planned steps by the time of those that were done."""
    path = tmp_path / "trainer_state.json"
    end = {"train_steps_per_second": 8.0, "train_samples_per_second": 256.0}
    path.write_text(json.dumps(trainer_state(**end) | {"max_steps": 400}))
    run = imported(path, devices=4)
    assert (run.step_s, run.global_batch, run.total_steps) == (pytest.approx(0.5), 32, 100)
    assert any("stopped at step 100 of 400" in remark for remark in run.remarks)
    assert not any("resumed" in remark for remark in run.remarks)


@pytest.mark.parametrize("rated", [100, 60], ids=["all steps are divided", "those of this call are divided"])
def test_trainer_state_of_a_training_that_continued_from_an_end(rated: int, tmp_path: Path) -> None:
    rates = {"train_steps_per_second": rated / 30.0, "train_samples_per_second": 32 * rated / 30.0}
    state = trainer_state(train_runtime=30.0, **rates)
    history = state["log_history"]
    history.insert(4, history[-1] | {"step": 40, "train_runtime": 20.0})
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(state))
    run = imported(path, devices=4)
    assert (run.step_s, run.global_batch, run.total_steps) == (pytest.approx(0.5), 32, 60)
    assert "continued from step 40: train_runtime is of the 60 steps since then" in run.remarks


def test_what_is_assumed_of_a_training_that_may_have_been_continued(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(trainer_state()))
    assumed = "train_runtime is taken as that of all 100 steps"
    assert any(assumed in remark for remark in imported(path, devices=4).remarks)
    # rates of the steps done, not of the planned ones: those of this call are all steps
    path.write_text(json.dumps(trainer_state() | {"max_steps": 400}))
    assert not any(assumed in remark for remark in imported(path, devices=4).remarks)


def test_trainer_state_of_a_training_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(trainer_state(none=True)))
    with pytest.raises(ValueError, match=r"10 rows, none with train_runtime: .* trainer.save_state\(\)"):
        imported(path, devices=4)


def mllog(key: str, value: object = None, *, at_s: float, prefix: str = "", **metadata: object) -> str:
    """A line of mlperf_logging.mllog."""
    row = {"namespace": "", "time_ms": int(1.7e12 + at_s * 1e3), "event_type": "POINT_IN_TIME", "key": key}
    row |= {"value": value, "metadata": {"file": "train.py", "lineno": 1} | metadata}
    return f"{prefix}:::MLLOG {json.dumps(row)}\n"


@pytest.mark.parametrize("prefix", ["", "0: ", "ray-training  | [0] "])
def test_mlperf_with_tracked_stats(tmp_path: Path, prefix: str) -> None:
    log = tmp_path / "result_0.txt"
    text = mllog("global_batch_size", 64, at_s=0) + mllog("run_start", at_s=1)
    for block in range(1, 12):
        text += "some other line\n"
        text += mllog(
            "tracked_stats", {"throughput": 6400.0}, at_s=1 + block * 0.1, prefix=prefix, step=block * 640
        )
        text += mllog("block_stop", at_s=1 + block * 0.1, prefix=prefix, samples_count=block * 640)
    log.write_text(text + mllog("run_stop", at_s=3, status="success"))
    run = imported(log, devices=8)
    assert (run.log.kind, run.global_batch, run.steps_per_row) == ("MLPerf log", 64, 10)
    assert run.step_s == pytest.approx(0.01)
    with_two = log.read_text() + mllog("run_start", at_s=9)
    log.write_text(with_two)
    with pytest.raises(ValueError, match="a second run begins here; one log is one run"):
        imported(log, devices=8)


def test_mlperf_without_them(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    text = mllog("global_batch_size", 32, at_s=0) + mllog("run_start", at_s=1)
    for block in range(1, 9):
        text += mllog("block_stop", at_s=1 + block * 3, samples_count=block * 320)
    log.write_text(text)
    run = imported(log, devices=8)
    assert run.step_s == pytest.approx(0.3)
    assert Limit.CLOCK in run.limits


@pytest.mark.parametrize("counted", [True, False], ids=["with its samples", "without them"])
def test_the_time_between_blocks_of_mlperf_is_left_out(counted: bool, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    text = mllog("global_batch_size", 32, at_s=0) + mllog("run_start", at_s=1)
    for block in range(8):
        samples = {"samples_count": block * 320} if counted else {}
        for rank in range(2):
            text += mllog("block_start", at_s=2 + block * 5 + rank / 1000, prefix=f"{rank}: ", **samples)
        for rank in range(2):
            at_s = 5 + block * 5 + rank / 1000
            text += mllog("block_stop", at_s=at_s, prefix=f"{rank}: ", samples_count=(block + 1) * 320)
    log.write_text(text)
    run = imported(log, devices=2)
    assert run.step_s == pytest.approx(0.3)
    assert "15 s between blocks are left out, as of evaluations" in run.remarks


def trace(steps: int, *, world: int) -> dict[str, Any]:
    """As torch.profiler's Kineto writes it."""
    events: list[dict[str, Any]] = [{"ph": "M", "name": "process_name", "ts": 1.0, "pid": 1, "tid": 0, "args": {}}]
    for step in range(steps):
        at = 5e9 + step * 2e4
        event = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 2}", "pid": 1, "tid": 1}
        events.append(event | {"ts": at, "dur": 19990.5})
        gpu = {"ph": "X", "cat": "gpu_user_annotation", "name": f"ProfilerStep#{step + 2}", "pid": 0, "tid": 7}
        events.append(gpu | {"ts": at + 100, "dur": 9000.0})
        events.append(
            {"ph": "X", "cat": "kernel", "name": "gemm<float, 4>\x1b", "ts": at, "dur": 5.0, "pid": 0, "tid": 7}
        )
    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85e9}],
        "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": world},
        "traceEvents": events,
        "traceName": "trace.json",
    }


@pytest.mark.parametrize("packed", [False, True])
def test_kineto(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "trace"
    text = json.dumps(trace(20, world=8), indent=2).replace("\\u001b", "\x1b").encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    run = imported(path, batch=64)
    assert (run.devices, run.log.facts.device) == (8, "NVIDIA H100 80GB HBM3")
    assert run.step_s == pytest.approx(0.0199905)
    assert len(run.step_time_s) == 20


def test_a_trace_without_steps(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text(json.dumps(trace(0, world=8)))
    with pytest.raises(
        ValueError, match=r"1 events, none of them ProfilerStep#N; call profiler.step\(\) after each step"
    ):
        imported(path)


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_json_file_that_is_cut_off_is_refused_with_its_line(tmp_path: Path, cut: float) -> None:
    for name, content in (("trainer_state", trainer_state()), ("trace", trace(50, world=8))):
        path = tmp_path / name
        text = json.dumps(content, indent=1)
        path.write_text(text[: int(cut * len(text))])
        with pytest.raises(ValueError, match=r"line (\d+): .*(truncated|not JSON)") as error:
            imported(path, devices=1)
        found = re.search(r"line (\d+)", str(error.value))
        assert found is not None
        last = path.read_text().count("\n") + 1
        assert last - 15 <= int(found[1]) <= last, "the first line of the value that is not complete"


def test_arrays_of_rows(tmp_path: Path) -> None:
    """A history that was saved alone, a trace as one array, and records as pandas writes them."""
    history = [
        {"step": step, "epoch": step / 100, "loss": 3.0, "learning_rate": 1e-4} for step in range(10, 110, 10)
    ]
    end = {"train_runtime": 50.0, "train_samples_per_second": 64.0, "train_steps_per_second": 2.0, "step": 100}
    (tmp_path / "history.json").write_text(json.dumps([*history, end], indent=2))
    (log,) = read_log(tmp_path / "history.json", Given(devices=1))
    assert log.kind == "Hugging Face trainer_state.json"
    assert log.columns["step_time_s"].tolist() == pytest.approx([0.5])
    assert log.facts.global_batch == 32
    events = [{"ph": "X", "name": f"ProfilerStep#{step}", "ts": 1e5 * step, "dur": 1e5} for step in range(20)]
    (tmp_path / "trace.json").write_text(json.dumps(events))
    (log,) = read_log(tmp_path / "trace.json", Given(devices=1))
    assert log.columns["step_time_s"].tolist() == pytest.approx([0.1] * len(log.columns["step"]))
    rows = [{"step": step, "step_time_ms": 100.0} for step in range(30)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (log,) = read_log(tmp_path / "rows.json", Given(devices=1))
    assert log.kind == "JSON array of rows" and len(log.columns["step"]) == 30
    (tmp_path / "numbers.json").write_text("[1, 2]")
    with pytest.raises(UserError, match="no known format"):
        read_log(tmp_path / "numbers.json", Given(devices=1))


def test_dllogger_over_several_lines(tmp_path: Path) -> None:
    """As documents print it. The object of the last step was cut off."""
    rows = [
        {"timestamp": f"{1.7e9 + step}", "type": "LOG", "step": step, "data": {"train_step_timing in s": 1.5}}
        for step in range(20)
    ]
    text = "".join(f"DLLL {json.dumps(row, indent=2)}\n" for row in rows)
    (tmp_path / "log").write_text(text[:-20])
    (log,) = read_log(tmp_path / "log", Given(devices=1))
    assert log.columns["step"].tolist() == list(range(19))
    assert log.columns["step_time_s"].tolist() == [1.5] * 19
    (tmp_path / "log").write_text(text.replace('"type": "LOG"', '"type": LOG', 1))
    with pytest.raises(UserError, match="line 1: not JSON"):
        read_log(tmp_path / "log", Given(devices=1))


def test_dllogger_with_a_throughput_that_only_its_unit_shows(tmp_path: Path) -> None:
    def line(step: object, data: dict[str, object], at_s: float) -> str:
        return (
            "DLLL "
            + json.dumps({"timestamp": str(1.7e9 + at_s), "type": "LOG", "step": step, "data": data})
            + "\n"
        )

    rates = {"train.compute_ips": 9000, "train.total_ips": 6400, "val.total_ips": 20000}
    text = line("PARAMETER", {"num_gpus": 8}, 0)
    for metric in rates:
        text += f'DLLL {{"type": "METADATA", "metric": "{metric}", "metadata": {{"unit": "images/s"}}}}\n'
    for epoch in range(2):
        text += "".join(
            line([epoch, step], rates, epoch * 20 + step * 0.4) for step in range(epoch * 40, 40 + epoch * 40)
        )
        text += line([epoch], rates, epoch * 20 + 16)  # the summary of an epoch
    path = tmp_path / "log.json"
    path.write_text(text)
    run = imported(path, batch=2560)
    assert run.step_s == pytest.approx(0.4)
    assert "`train.total_ips (images/s)` is read as a throughput, by its unit" in run.remarks
    assert not any("step number falls" in remark for remark in run.remarks)
