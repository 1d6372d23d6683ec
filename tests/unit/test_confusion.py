"""The table of what a diagnosis found, from findings that are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.diagnosis import main, measure, read, table


def keep(results: Path, name: str, seed: int, *causes: str) -> None:
    folder = results / f"{name}-{seed}"
    folder.mkdir(parents=True)
    (folder / "findings.json").write_text(json.dumps({"findings": [{"cause": cause} for cause in causes]}))


def test_right_wrong_and_abstained_are_counted(tmp_path: Path) -> None:
    keep(tmp_path, "slow-rank", 1, "straggler", "comm-bound")
    keep(tmp_path, "slow-rank", 2, "unexplained")
    keep(tmp_path, "slow-rank", 3, "comm-bound")
    keep(tmp_path, "leak", 1, "healthy", "memory-growth")
    keep(tmp_path, "clean-convnet", 1, "healthy")
    keep(tmp_path, "clean-convnet", 2, "straggler")
    keep(tmp_path, "clean-text", 1, "unexplained")
    text = table(read(tmp_path))
    assert "| slow-rank | straggler | straggler 1, unexplained 1, comm-bound 1 |" in text
    assert "| leak | memory-growth | memory-growth 1 |" in text
    assert "faults: 2 of 4 right, 1 abstentions, 1 wrong" in text
    assert "controls: 1 false alarms in 3 studies, 1 abstentions" in text


def test_what_is_there_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.diagnosis.SCALESTUDY", "/nothing/to/run")
    keep(tmp_path, "leak", 1, "memory-growth")
    measure("leak", 1, tmp_path / "leak-1")
    assert main(["--seeds", "1", "--faults", "leak", "--results", str(tmp_path)]) == 0
