"""`scalestudy accept` and bad input: the fault and what would be right, before anything runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scalestudy.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--devices", "0"], "0 is not in the range x>=1"),
        (["--device", "cpu", "--devices", "100000"], f"only {len(os.sched_getaffinity(0))}"),
        (["--device", "cuda", "--devices", "99"], "CUDA devices"),
        (["--stages", "9"], "'9' is not one of '1', '2', '3', '4', '5'"),
        (["--stages", "1", "clocks"], "unexpected extra argument (clocks)"),
        (["--device", "tpu"], "'tpu' is not one of"),
    ],
)
def test_bad_input(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept", *arguments]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_another_acceptance_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "acceptance.json"
    kept.write_text("of yesterday", encoding="utf-8")
    assert main(["accept", "--device", "cpu", "--devices", "1", "--out", str(tmp_path)]) == 2
    assert "already has an acceptance, which is not overwritten" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "of yesterday"
    assert [path.name for path in tmp_path.iterdir()] == ["acceptance.json"]
