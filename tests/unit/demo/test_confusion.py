"""The table of what a diagnosis found, from findings that are known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.diagnosis import OUTCOMES, main, read, table, told, write
from scalestudy.demo.faults import ALL


def kept(*rows: tuple[str, int, str], possible: str = "") -> dict:
    alike = {"verdict": "poor", "possible": possible}
    return {(fault, seed): alike | {"causes": causes} for fault, seed, causes in rows}


def test_right_wrong_and_abstained_are_counted() -> None:
    text = table(
        kept(
            ("slow-rank", 1, "straggler comm-bound"),
            ("slow-rank", 2, "unexplained"),
            ("slow-rank", 3, "comm-bound"),
            ("leak", 1, "healthy memory-growth"),
            ("clean-convnet", 1, "healthy"),
            ("clean-convnet", 2, "straggler"),
            ("clean-text", 1, "unexplained"),
        )
    )
    assert "| slow-rank | straggler | straggler 1, unexplained 1, comm-bound 1 |" in text
    assert "| leak | memory-growth | memory-growth 1 |" in text
    assert "faults: 2 of 4 right, 1 abstentions, 1 wrong" in text
    assert "controls: 1 false alarms in 3 studies, 1 abstentions" in text


def test_causes_that_are_only_possible_are_counted_apart() -> None:
    outcomes = kept(("slow-rank", 1, "comm-bound"), ("clean-text", 1, "unexplained"), possible="straggler")
    text = table(outcomes | kept(("slow-rank", 2, "comm-bound")))
    assert "faults: 0 of 2 right" in text
    assert text.endswith("named: the true cause in 1 of 2 faults; possible causes in 1 controls")


def test_rows_are_kept_as_they_were_written(tmp_path: Path) -> None:
    rows = kept(("clean-convnet", 2, ""), ("leak", 1, "healthy memory-growth"), ("clean-convnet", 1, "healthy"))
    write(tmp_path / "folder/kept.csv", rows)
    assert read(tmp_path / "folder/kept.csv") == rows
    lines = (tmp_path / "folder/kept.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["leak", "1"],
        ["clean-convnet", "1"],
        ["clean-convnet", "2"],
    ]


def test_what_is_kept_of_a_diagnosis() -> None:
    found = SimpleNamespace(
        verdict="poor",
        findings=[SimpleNamespace(cause="straggler"), SimpleNamespace(cause="comm-bound")],
        also_possible=[SimpleNamespace(cause="transport")],
    )
    assert told(found) == {"verdict": "poor", "causes": "straggler comm-bound", "possible": "transport"}


def test_what_has_a_row_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.diagnosis.SCALESTUDY", "/nothing/to/run")
    write(tmp_path / "kept.csv", kept(("leak", 1, "memory-growth")))
    command = ["--seeds", "1", "--faults", "leak", "--results", str(tmp_path)]
    assert main([*command, "--outcomes", str(tmp_path / "kept.csv")]) == 0


def test_the_documentation_has_the_table_of_the_rows_that_are_kept() -> None:
    """Figures in the text are those of the file."""
    page = (OUTCOMES.parents[1] / "diagnosis.md").read_text(encoding="utf-8")
    outcomes = read(OUTCOMES)
    assert {fault for fault, _ in outcomes} == set(ALL)
    assert table(outcomes) in page
