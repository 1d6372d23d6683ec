"""Files are written as a whole, under their own name only."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scalestudy.record.files import temporary_of, write_text


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_path_without_a_name_is_a_folder(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IsADirectoryError):
        write_text(path, "text")
    assert list(tmp_path.iterdir()) == []


WRITES = """
import os, signal, sys
from pathlib import Path
from scalestudy.record import files
files.sync = lambda path: os.kill(os.getpid(), {signum})
files.write_text(Path(sys.argv[1]), "half")
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGHUP])
def test_what_a_killed_writer_left_goes_with_the_next_one(signum: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "forecasts.csv"
    done = subprocess.run([sys.executable, "-c", WRITES.format(signum=int(signum)), str(path)], check=False)
    assert done.returncode == -signum
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".forecasts.csv.")
    write_text(path, "whole")
    assert [one.name for one in tmp_path.iterdir()] == ["forecasts.csv"]


def test_what_a_living_writer_or_another_host_writes_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    node = platform.node()
    kept = [
        f".a.csv.{os.getppid()}.{node}",
        f".a.csv.999999999.{node}x",
        ".a.csv.999999999",
        f".b.csv.999999999.{node}",
    ]
    for name in kept:
        (tmp_path / name).write_text("half")
    write_text(path, "whole")
    assert {one.name for one in tmp_path.iterdir()} == {*kept, "a.csv"}
    assert temporary_of(path).parent == tmp_path
