"""What the system refuses is reported as it was: a file that cannot be read is not called unwritable."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import click
import pytest
from conftest import BIN
from scalestudy.cli.command import Verb
from scalestudy.cli.main import main, program


def ending(monkeypatch: pytest.MonkeyPatch, error: Exception) -> int:
    """The exit status of a command that ends with this error."""

    def fail() -> None:
        raise error

    verb = Verb("plan", callback=fail)
    monkeypatch.setattr(type(program), "get_command", lambda *_: verb)
    return main(["plan"])


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.EACCES, errno.ENOENT, errno.EISDIR, errno.EMFILE, errno.ESTALE]
)
def test_an_error_of_an_unknown_operation_is_not_called_one_of_writing(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(monkeypatch, OSError(number, os.strerror(number), "results/a.csv")) == 2
    said = capsys.readouterr().err
    assert said.startswith("scalestudy plan: results/a.csv: ")
    assert "written" not in said and said.count("\n") == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG])
def test_an_error_that_only_writing_gives_says_so(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(monkeypatch, OSError(number, os.strerror(number), "results/a.csv")) == 2
    assert "scalestudy plan: results/a.csv: cannot be written: " in capsys.readouterr().err


def test_an_error_without_a_file_is_not_blamed_on_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As read(2) of a defective disk gives it: Python knows no name then."""
    assert ending(monkeypatch, OSError(errno.EIO, os.strerror(errno.EIO))) == 2
    assert capsys.readouterr().err == "scalestudy: a file: the disk reported an error\n"


def test_a_file_that_cannot_be_read_is_named_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A real error, of a path through a file."""
    (tmp_path / "file").write_text("")

    def read() -> None:
        (tmp_path / "file/below").read_bytes()

    verb = click.Group(commands={"plan": Verb("plan", callback=read)})
    monkeypatch.setattr(type(program), "get_command", lambda *_: verb.commands["plan"])
    assert main(["plan"]) == 2
    said = capsys.readouterr().err
    assert said == f"scalestudy plan: {tmp_path}/file/below: a part of its path is a file\n"


@pytest.mark.parametrize("words", [["plan", "--study", "a.yaml"], ["summary"]], ids=" ".join)
def test_a_current_folder_that_was_removed_is_named(words: list[str], tmp_path: Path) -> None:
    (gone := tmp_path / "gone").mkdir()
    line = f"rmdir {gone}; exec {BIN / 'scalestudy'} {' '.join(words)}"
    ended = subprocess.run(line, shell=True, cwd=gone, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.endswith("scalestudy: the current folder was removed; change to one that exists\n")


def test_too_little_memory_is_no_error_of_ours(tmp_path: Path) -> None:
    line = f"ulimit -v 300000; exec {BIN / 'scalestudy'} summary"
    ended = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


def test_memory_that_runs_out_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(monkeypatch, MemoryError()) == 2
    assert capsys.readouterr().err.startswith("scalestudy: not enough memory; raise the limit")
