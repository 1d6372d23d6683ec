"""Tables of any tool: names of columns, units that are asked for, cells that are no number, several runs in a
file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.quantities import meaning_of
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.importers.logs.tabular.values import value_of
from scalestudy.registry.codes import Limit


def imported(path: Path, **given: object) -> list[ImportedRun]:
    said = Given(**given)  # type: ignore[arg-type]
    return [derive(log, said) for log in read_log(path, said)]


@pytest.mark.parametrize(
    ("name", "quantity", "factor", "unit", "per"),
    [
        ("global_step", "step", 1, "", ""),
        ("trainer/global_step", "step", 1, "", ""),
        ("step_time_ms", "step_time_s", 1e-3, "", ""),
        ("Step time (ms)", "step_time_s", 1e-3, "", ""),
        ("sec/step", "step_time_s", 1, "", ""),
        ("time_metrics/end_to_end(s)", "step_time_s", 1, "", ""),
        ("train_step_timing in s", "step_time_s", 1, "", ""),
        ("step_time", "step_time_s", None, "", ""),
        ("samples/sec", "work_per_s", 1, "samples", ""),
        ("throughput (img/s/GPU)", "work_per_s", 1, "samples", "device"),
        ("tok/s/device", "work_per_s", 1, "tokens", "device"),
        ("tokens_per_sec_per_gpu", "work_per_s", 1, "tokens", "device"),
        ("throughput(tps)", "work_per_s", 1, "tokens", ""),
        ("it/s", "work_per_s", 1, "steps", ""),
        ("throughput", "work_per_s", 1, "", ""),
        ("_timestamp", "clock_s", None, "", ""),
        ("world_size", "devices", 1, "", ""),
        ("consumed_samples", "work", 1, "samples", ""),
    ],
)
def test_what_a_column_means(name: str, quantity: str, factor: float | None, unit: str, per: str) -> None:
    found = meaning_of(name)
    assert found is not None
    assert (found.quantity, found.factor, found.unit, found.per) == (quantity, factor, unit, per)


@pytest.mark.parametrize(
    "name", ["time", "Time (s)", "val_loss", "eval/samples_per_second", "lr", "memory_gb", "epoch"]
)
def test_what_is_not_read(name: str) -> None:
    """A time that may be of a step or of a clock is not guessed, and evaluation is no training."""
    assert meaning_of(name) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("1,5", 1.5),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        ("12,345,678", 12345678),
        ("3e2", 300),
        ("7,026", 7026),
    ],
)
def test_a_number_as_people_write_it(text: str, value: float) -> None:
    assert value_of(text, "work_per_s", None, comma=False) == value


def test_a_time_without_a_unit_is_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    log.write_text("step,step_time\n" + "".join(f"{step},250\n" for step in range(1, 20)))
    with pytest.raises(
        ValueError, match=r"column step_time: a time without a unit; add --time s, --time ms or --time us"
    ):
        imported(log, devices=1, batch=8)
    (run,) = imported(log, devices=1, batch=8, time="ms")
    assert run.step_s == pytest.approx(0.25)


def test_what_is_missing_is_asked_for_with_its_option(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    log.write_text("step,throughput\n" + "".join(f"{step},250\n" for step in range(1, 20)))
    for given, asked in (
        ({}, r"--gpus a.csv=N"),
        ({"devices": 4}, r"--rate samples, --rate tokens or --rate steps"),
        ({"devices": 4, "rate": "samples"}, r"--per device or --per all"),
        ({"devices": 4, "rate": "samples", "per": "device"}, r"--batch a.csv=N"),
    ):
        with pytest.raises(ValueError, match=asked):
            imported(log, **given)
    (run,) = imported(log, devices=4, rate="samples", per="device", batch=100)
    assert run.throughput == pytest.approx(1000)
    (run,) = imported(log, devices=4, rate="steps", batch=100)
    assert run.throughput == pytest.approx(25_000)


@pytest.mark.parametrize(("rate", "per"), [(640.0, "all"), (160.0, "device")])
def test_step_times_show_what_a_throughput_belongs_to(tmp_path: Path, rate: float, per: str) -> None:
    log = tmp_path / "a.csv"
    log.write_text("step,step_time_s,samples/s\n" + "".join(f"{step},0.1,{rate}\n" for step in range(1, 20)))
    (run,) = imported(log, devices=4, batch=64)
    assert run.throughput == pytest.approx(640)
    other = {"all": "device", "device": "all"}[per]
    with pytest.raises(ValueError, match=r"a step is 64: it is of .*Correct --per, --batch or --gpus"):
        imported(log, devices=4, batch=64, per=other)


def test_a_unit_that_contradicts_the_time_stamps_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    rows = "".join(f"{step},{250},{1.7e9 + step * 0.25}\n" for step in range(1, 200))
    log.write_text("step,step_time_s,timestamp\n" + rows)
    with pytest.raises(
        ValueError, match=r"take 4\.95e\+04 s together, more than the 49.5 s between their time stamps"
    ):
        imported(log, devices=1, batch=8)
    log.write_text("step,step_time_ms,timestamp\n" + rows)
    (run,) = imported(log, devices=1, batch=8)
    assert run.step_s == pytest.approx(0.25)
    log.write_text("step,step_time_us,timestamp\n" + rows)
    with pytest.raises(ValueError, match="less than 1/50 of the"):
        imported(log, devices=1, batch=8)


def test_several_runs_of_a_file_by_its_labels(tmp_path: Path) -> None:
    log = tmp_path / "runs.csv"
    rows = [
        f"{run};{gpus};{step};{100 * gpus**0.1:.3f}".replace(".", ",")
        for gpus in (1, 4)
        for run in "ab"
        for step in range(1, 12)
    ]
    log.write_text("\ufeffrun;gpus;step;step time (ms)\n" + "\n".join(rows) + "\n", encoding="utf-8")
    runs = imported(log, batch=32)
    assert [(run.devices, run.log.label) for run in runs] == [(1, "a 1"), (1, "b 1"), (4, "a 4"), (4, "b 4")]
    assert runs[-1].step_s == pytest.approx(0.1 * 4**0.1, rel=1e-5)


def test_a_bad_cell_is_left_out_with_a_remark(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    rows = [f"{step},100" for step in range(1, 20)]
    rows[7] = "8,oops <script>alert(1)</script>"
    log.write_text("step,step_time_ms,comment\n" + "\n".join(rows) + "\n")
    (run,) = imported(log, devices=1, batch=8)
    assert run.step_s == pytest.approx(0.1)
    assert any("line 9, step_time_ms: 'oops <script>" in remark for remark in run.remarks)
    assert "columns without cells: comment" in run.remarks


def test_windows_between_time_stamps(tmp_path: Path) -> None:
    """Weights & Biases: _step, _timestamp, _runtime. An evaluation between two rows is no step."""
    log = tmp_path / "wandb.csv"
    at, rows = 1.7e9, []
    for step in range(0, 1000, 50):
        at += 5.0 + 300.0 * (step == 500)
        rows.append(f"{step},{at},{at - 1.7e9},1.5")
    log.write_text("_step,_timestamp,_runtime,train/loss\n" + "\n".join(rows) + "\n")
    (run,) = imported(log, devices=2, batch=64)
    assert run.log.kind == "CSV export of Weights & Biases"
    assert run.step_s == pytest.approx(0.1)
    assert {Limit.CLOCK, Limit.AVERAGED} <= set(run.limits)
    assert any(
        "1 window takes more than 5 times the median" in remark and "305 s" in remark for remark in run.remarks
    )


def test_a_chart_of_several_runs_is_refused(tmp_path: Path) -> None:
    """Weights & Biases exports a chart with a column for each run, and two for its smallest and largest value."""
    log = tmp_path / "chart.csv"
    names = [f"run-{run} - train/samples_per_second{end}" for run in "ab" for end in ("", "__MIN", "__MAX")]
    for count in (3, 6):
        text = ",".join(f'"{name}"' for name in ["Step", *names[:count]]) + "\n"
        log.write_text(text + "".join(f"{step}" + ",640" * count + "\n" for step in range(1, 30)))
        if count == 3:
            (run,) = imported(log, devices=2, per="all", batch=64)
            assert run.step_s == pytest.approx(0.1)
        else:
            with pytest.raises(ValueError, match="are of two runs; export each run to a file of its own"):
                imported(log, devices=2, per="all", batch=64)


def test_a_clock_that_is_set_back_and_one_that_is_set_forward(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    rows, at = [], 1.7e9
    for step in range(1, 60):
        at += 2.0 + (3600.0 if step == 20 else -3600.0 if step == 40 else 0.0)
        rows.append(f"{step},{at}")
    log.write_text("step,timestamp\n" + "\n".join(rows) + "\n")
    (run,) = imported(log, devices=1, batch=4)
    assert run.step_s == pytest.approx(2.0)
    assert any(
        remark.startswith("line 41: the clock goes back by 3598 s; this window is left out")
        for remark in run.remarks
    )
    assert any("as when a clock is set" in remark for remark in run.remarks)


def test_a_restart_is_the_same_run(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    steps = [*range(1, 50), *range(30, 80)]
    times = [100] * 49 + [900] + [100] * 49
    log.write_text(
        "step,step_time_ms\n" + "".join(f"{step},{time}\n" for step, time in zip(steps, times, strict=True))
    )
    (run,) = imported(log, devices=1, batch=4)
    assert run.step_s == pytest.approx(0.1)
    assert any("line 51: the step number falls to 30: a restart" in remark for remark in run.remarks)


def test_interleaved_ranks(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    log.write_text("step,step_time_ms\n" + "".join(f"{step},100\n" for step in range(1, 30) for _ in range(4)))
    with pytest.raises(ValueError, match=r"line 3: each step is there about 4 times, without its rank"):
        imported(log, devices=4, batch=4)
    log.write_text(
        "rank,step,step_time_ms\n"
        + "".join(f"{rank},{step},{100 + rank}\n" for step in range(1, 30) for rank in range(4))
    )
    (run,) = imported(log, devices=4, batch=4)
    assert run.step_s == pytest.approx(0.1)
    assert any("rows of 3 other ranks are left out" in remark for remark in run.remarks)


def dllogger(step: object, data: dict[str, object], at: float) -> str:
    """A line of JSONStreamBackend (dllogger/logger.py)."""
    row = {
        "timestamp": str(at),
        "datetime": "2024-09-27 18:57:06.98",
        "elapsedtime": "1.0",
        "type": "LOG",
        "step": step,
    }
    return f"DLLL {json.dumps(row | {'data': data})}\n"


def test_dllogger(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    meta = {"type": "METADATA", "metric": "throughput", "metadata": {"unit": "images/s", "format": ":.2f"}}
    text = "DLLL " + json.dumps({"timestamp": "1.0", "elapsedtime": "0"} | meta) + "\n"
    text += dllogger("PARAMETER", {"num_gpus": 8, "global_batch_size": 512, "lr": 0.1}, 1.7e9)
    text += "".join(
        dllogger([0, step], {"throughput": 2560.0, "loss": 2.5}, 1.7e9 + step * 0.2) for step in range(1, 40)
    )
    text += dllogger([], {"throughput": 2555.0}, 1.7e9 + 9)
    log.write_text(text)
    (run,) = imported(log, per="all")
    assert (run.log.kind, run.devices, run.global_batch) == ("DLLogger JSON log", 8, 512)
    assert run.step_s == pytest.approx(0.2)


def test_json_lines(tmp_path: Path) -> None:
    log = tmp_path / "history.jsonl"
    rows = [
        {"_step": step, "_timestamp": 1.7e9 + step, "train": {"loss": 1.0, "tokens_per_sec": 4096.0}}
        for step in range(30)
    ]
    log.write_text("\n".join(map(json.dumps, rows)) + '\n{"_step": 31, "_time')
    (run,) = imported(log, devices=2, per="all", batch=4096)
    assert run.step_s == pytest.approx(1.0)
    log.write_text(json.dumps(rows[0]) + "\nno json\n" + json.dumps(rows[1]) + "\n")
    with pytest.raises(ValueError, match=r"history.jsonl, line 2: not JSON"):
        imported(log, devices=2)


def test_many_rows_are_joined_to_longer_windows(tmp_path: Path) -> None:
    """Means of groups; a restart is never within one."""
    log = tmp_path / "a.csv"
    first = [f"{step},{100 + step % 2},{640}" for step in range(1, 300_001)]
    again = [f"{step},{100 + step % 2},{640}" for step in range(200_001, 400_001)]
    log.write_text("step,step_time_ms,samples/s\n" + "\n".join(first + again) + "\n")
    (run,) = imported(log, devices=1, batch=64)
    assert len(run.step_time_s) <= 200_000
    assert run.step_s == pytest.approx(0.1005, rel=1e-4)
    assert run.steps_per_row == 3
    assert run.total_steps == pytest.approx(500_000, rel=1e-4)
    assert Limit.AVERAGED in run.limits
    assert any("500000 rows are joined to windows of 3 rows" in remark for remark in run.remarks)
    assert any("the step number falls to 200003: a restart" in remark for remark in run.remarks)
