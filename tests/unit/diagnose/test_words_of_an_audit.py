"""An audit gives the reasons that apply: the answer of the user, or equal work on each device."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.cli.main import main


def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str, rows: tuple[str, ...]) -> str:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows) + "\n")
    main(["audit", str(path), *arguments])
    return " ".join(capsys.readouterr().out.split())


def test_an_answer_is_named_as_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ("ranks,Time (s)", "1,5.12", "2,4.92", "4,5.35")
    text = printed(tmp_path, capsys, "--scaling", "strong", rows=rows)
    assert "a time of work that is constant (as --scaling says)" in text
    assert "strong scaling as --scaling says" in text
    assert "as printed" not in text.split("Baseline")[0]


def test_a_step_of_a_smaller_batch_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ("GPUs,step time (ms)", "1,322", "2,322", "4,5777")
    assert "equal batch per device" not in printed(tmp_path, capsys, "--scaling", "strong", rows=rows)
    text = printed(tmp_path, capsys, "--scaling", "weak", rows=rows)
    assert "takes 5.46e+03 ms longer than on one device at equal batch per device" in text


def test_throughput_and_step_time_show_equal_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ("GPUs,Step time (ms),tok/s,Speedup", "2,16.0,128000,1.00", "4,40.0,102400,0.80")
    text = printed(tmp_path, capsys, rows=rows)
    assert "takes 24 ms longer than on 2 devices at equal batch per device" in text


def test_rows_that_are_in_no_case_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ("Framework,GPUs,img/s", "A,1,100", "A,2,190", "B,2,150", "C,1,90", "C,2,170")
    text = printed(tmp_path, capsys, rows=rows)
    assert "line 4 was not compared: no other number of devices has the same labels and batch" in text
    text = printed(tmp_path, capsys, rows=rows[:3])
    assert "not compared" not in text


def test_a_further_baseline_is_below_the_scales_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("Strategy,GPUs,img/s", "with DDP on threads,1,100", "plain FSDP,1,115", "DDP MPI,2,190")
    text = printed(tmp_path, capsys, rows=rows)
    scales = "1 100 1.00 100.0 -- -- 2 190 1.90 95.0 95.0 --"
    assert f"{scales} Another baseline, plain FSDP: 1 115 1.15 115.0 -- --" in text
