"""`scalestudy accept` on this machine: clocks, combinations and faults are as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import handlers_kept
from scalestudy.accept.model import AcceptanceFile
from scalestudy.cli.main import main
from scalestudy.record.document import read_document


def accepted(folder: Path, *arguments: str) -> AcceptanceFile:
    with handlers_kept():
        main(["accept", "--device", "cpu", "--devices", "2", "--out", str(folder), *arguments])
    return read_document(folder / "acceptance.json", AcceptanceFile)


def red(found: AcceptanceFile, *leave_out: int) -> list[str]:
    stages = (stage for stage in found.stages if stage.number not in leave_out)
    return [f"{one.name}: {one.found}" for stage in stages for one in stage.checks if one.word == "red"]


@pytest.mark.alone
def test_the_short_form(tmp_path: Path) -> None:
    """Clocks and bandwidth are measured on a busy host here, so this test does not check their values."""
    found = accepted(tmp_path, "--short")
    assert red(found, 2, 4) == []
    assert [stage.number for stage in found.stages] == [1, 2, 3, 4, 5]
    assert not [one for stage in found.stages for one in stage.checks if one.name == "the stage itself"]
    page = (tmp_path / "acceptance.md").read_text(encoding="utf-8")
    assert "in its short form" in page
    assert "measurement of scaling" not in page, "no ranks shared a device"


@pytest.mark.slow
def test_the_whole_form(tmp_path: Path) -> None:
    found = accepted(tmp_path)
    assert red(found, 2, 4) == []
    assert found.impossible
