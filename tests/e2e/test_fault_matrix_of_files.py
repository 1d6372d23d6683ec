"""A file of a finished run that is damaged: it is refused by its name, and nothing else is touched."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Checkout
from disks import UNPRIVILEGED, state_of
from scalestudy.record.parts import DATA_FILES

FILES = ("run.json", "run.sha256", *DATA_FILES)


def flip(path: Path) -> None:
    """One bit in the middle of the file, of a letter: that of a number's last digit may leave the same number."""
    content = bytearray(path.read_bytes())
    letters = re.compile(rb"[a-zA-Z]")
    letter = letters.search(content, len(content) // 2) or letters.search(content)
    assert letter
    content[letter.start()] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def replace(path: Path) -> None:
    path.unlink()
    path.mkdir()


def lock_away(path: Path) -> None:
    os.chown(path, 65534, 65534)
    path.chmod(0)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "truncated": cut,
    "a bit flipped": flip,
    "emptied": empty,
    "removed": Path.unlink,
    "replaced by a directory": replace,
    "owned by someone else, and unreadable": lock_away,
}
HARMLESS = {("run.sha256", "removed")}
"""Snakemake removes it, too; the record is whole by its own checksum."""


def cell(file: str, damage: str) -> object:
    harmless = (file, damage) in HARMLESS
    mark = pytest.mark.fault(
        fault=f"{file} of a finished run: {damage}",
        moment="aggregating",
        outcome="ok" if harmless else "refused; a message names the file and what to do",
        kept="every other file",
        next_call="writes run.sha256 again"
        if harmless
        else "is refused in the same way until the file is restored or the run is moved away",
    )
    return pytest.param(file, damage, id=f"{file}-{damage}".replace(" ", "-"), marks=mark)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "damage"), [cell(file, damage) for file in FILES for damage in DAMAGES])
def test_a_damaged_file_of_a_run_is_refused_by_its_name(edited: Checkout, file: str, damage: str) -> None:
    if os.geteuid():
        pytest.skip("a file of someone else needs root")
    results = edited.root / "results/tiny"
    run = sorted(path.parent for path in results.glob("runs/*/run.json"))[0]
    copy = edited.root / "copy"
    shutil.copytree(run, copy)
    DAMAGES[damage](run / file)
    before = state_of(results) if damage != "owned by someone else, and unreadable" else None
    command = ("scalestudy", "stage", "aggregate", "--results", "results/tiny")
    ended = edited.run(*command, check=False, before=UNPRIVILEGED)
    if (file, damage) in HARMLESS:
        assert ended.returncode == 0, ended.stdout
        return
    assert ended.returncode == 2, ended.stdout
    assert "Traceback" not in ended.stdout
    assert f"runs/{run.name}/{file}" in ended.stdout
    assert len(ended.stdout.strip().splitlines()) == 1, ended.stdout
    assert before is None or state_of(results) == before
    shutil.rmtree(run)
    copy.rename(run)
    assert "4 runs, 4 points" in edited.run(*command).stdout
