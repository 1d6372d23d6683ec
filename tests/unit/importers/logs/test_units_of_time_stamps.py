"""Time stamps of a calendar show their unit by their size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from test_logs_of_any_trainer import imported

BEGUN_S, STEP_S = 1_700_000_000, 0.16


def csv(parts: int) -> str:
    rows = "".join(f"{step},{int((BEGUN_S + step * STEP_S) * parts)},2.0\n" for step in range(30))
    return "step,timestamp,loss\n" + rows


def json_lines(parts: int) -> str:
    return "".join(
        json.dumps({"step": step, "timestamp": int((BEGUN_S + step * STEP_S) * parts), "loss": 2.0}) + "\n"
        for step in range(30)
    )


def mlflow_csv(parts: int) -> str:
    rows = (f"a1,loss,2.0,{int((BEGUN_S + step * STEP_S) * parts)},{step}\n" for step in range(30))
    return "run_id,key,value,timestamp,step\n" + "".join(rows)


@pytest.mark.parametrize("text", [csv, json_lines, mlflow_csv])
@pytest.mark.parametrize(
    ("parts", "unit"), [(10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")]
)
def test_parts_of_a_second(text: Callable[[int], str], parts: int, unit: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(text(parts))
    run = imported(path, devices=1, batch=64)
    assert run.step_s == pytest.approx(STEP_S, rel=1e-3)
    assert run.started_s == pytest.approx(BEGUN_S)
    assert f"time stamps are taken as {unit} since 1970, by their size" in run.remarks
    assert any("the time between time stamps counts" in remark for remark in run.remarks)


def test_a_clock_of_no_calendar_has_no_date(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("step,timestamp\n" + "".join(f"{step},{10**11 + step}\n" for step in range(30)))
    run = imported(path, devices=1, batch=64)
    assert run.step_s == pytest.approx(1.0)
    assert run.started_s != run.started_s
