"""Stages that cannot write their documents: one line names the file and the reason, and nothing is left behind.

The same command works as soon as there is room.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from conftest import BIN, Checkout
from disks import UNPRIVILEGED, disk, full, not_ours, read_only, state_of, without_inodes
from scalestudy.publish.typeset import missing_tex

MOMENTS = {
    "plan": "preparing",
    "aggregate": "aggregating",
    "diagnose": "aggregating",
    **dict.fromkeys(("plot", "numbers", "tables", "text", "page", "documents", "typeset"), "publishing"),
}
FAULTS = {
    "full disk": "the disk is full",
    "disk without free inodes": "the disk is full",
    "read-only file system": "the file system is read-only",
    "file size limit": "it is larger than the file size limit",
    "results owned by someone else": "permission is denied",
    "quota exceeded": "the disk quota is used up",
    "disk with I/O errors": "the disk reported an error",
}
BY_STRACE = {"quota exceeded": "EDQUOT", "disk with I/O errors": "EIO"}
"""Of a file system's last step, which is told to the kernel to fail: no disk of ours has quotas or defects."""
IN_EVERY_RUN = {("full disk", "text")}


def cells() -> Iterator[object]:
    """Each fault in each stage."""
    for fault in FAULTS:
        for stage, moment in MOMENTS.items():
            if (fault, stage) == ("file size limit", "typeset"):
                continue  # it is LaTeX that ends then, and its log that reports this
            mark = pytest.mark.fault(
                fault=f"{fault}, in stage {stage}",
                moment=moment,
                outcome="one line names the file and the reason; exit status 2",
                kept="every finished run and every earlier document, byte for byte",
                next_call="writes the documents once files can be written",
            )
            slow = [] if (fault, stage) in IN_EVERY_RUN else [pytest.mark.slow]
            yield pytest.param(fault, stage, marks=[mark, *slow], id=f"{fault}-{stage}".replace(" ", "-"))


def command(stage: str, results: Path) -> list[str]:
    if stage == "typeset":
        if missing_tex():
            pytest.skip(missing_tex())
        return ["stage", "typeset", f"{results}/report.tex", f"--tex-log={results}/logs/report.tex.log"]
    if stage == "plan":
        return ["stage", "plan", f"--study={results / 'submitted.yaml'}", f"--results={results}"]
    return ["stage", stage, f"--results={results}"]


def call(words: list[str], before: tuple[str, ...] = (), limit: int | None = None) -> tuple[int, str]:
    """(exit status, stderr). limit: bytes that a file may have."""
    limited = None if limit is None else partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    ended = subprocess.run(
        [*before, str(BIN / "scalestudy"), *words], capture_output=True, text=True, preexec_fn=limited
    )
    return ended.returncode, ended.stderr


@pytest.fixture
def results(finished: Checkout, tmp_path: Path) -> Iterator[Path]:
    """Results of a finished study on a small disk of their own."""
    with disk(tmp_path / "disk", options="nr_inodes=2000") as place:
        shutil.copytree(finished.root / "results/tiny", place / "tiny")
        shutil.copy(finished.root / "config/config.yaml", place / "tiny/submitted.yaml")
        yield place / "tiny"


@contextlib.contextmanager
def broken(fault: str, results: Path) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """Meanwhile the results cannot be written: (what comes before a command, its limit of a file's size)."""
    if fault in BY_STRACE and shutil.which("strace") is None:
        pytest.skip("strace is missing; on Debian: apt-get install strace")
    place = results.parent
    with contextlib.ExitStack() as stack:
        if fault == "full disk":
            stack.enter_context(full(place))
        elif fault == "disk without free inodes":
            stack.enter_context(without_inodes(place))
        elif fault == "read-only file system":
            stack.enter_context(read_only(place))
        elif fault == "results owned by someone else":
            stack.enter_context(not_ours(results))
            yield UNPRIVILEGED, None
            return
        elif fault in BY_STRACE:
            failing = f"inject=rename,renameat,renameat2:error={BY_STRACE[fault]}"
            yield ("strace", "-f", "-qq", "-o", os.devnull, "-e", failing), None
            return
        yield (), 10 if fault == "file size limit" else None


@pytest.mark.parametrize(("fault", "stage"), [*cells()])
def test_a_stage_that_cannot_write_names_the_file_and_leaves_nothing(
    results: Path, fault: str, stage: str
) -> None:
    words = command(stage, results)
    before = state_of(results)
    with broken(fault, results) as (prefix, limit):
        status, said = call(words, prefix, limit)
        assert status == 2, said
        assert said.count("\n") == 1, said
        assert FAULTS[fault] in said
        assert f"{results}/" in said or (fault == "file size limit" and f"{tempfile.gettempdir()}/" in said)
        assert "run the same command again" in said
        assert state_of(results) == before, "nothing is left, and nothing is changed"
    status, said = call(words)
    assert (status, said) == (0, "")
    after = state_of(results)
    assert [name for name in after if "/." in f"/{name}" and name not in before] == []
    assert before.keys() <= after.keys()
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {"logs/report.tex.log", "artifact_description.tex", "report.tex", "plan.json"}
    assert not any(name.startswith("runs/") for name in changed)
