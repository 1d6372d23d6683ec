"""A call that was killed leaves Snakemake's lock behind; the next call just works, and a live lock is kept."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import Checkout, wait_for
from scalestudy.chain.locks import note_locks, release_dead_locks
from scalestudy.launch.starters import host_lock
from scalestudy.record.lock import exclusive

PLAN = "results/tiny/plan.json"


def lock_files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / ".snakemake/locks").glob("*.lock"))


def holding(checkout: Checkout) -> subprocess.Popen:
    """A call that holds Snakemake's lock: its launch waits for this host, which the test has."""
    call = checkout.start("snakemake", "results/tiny/runs.csv")
    wait_for(lambda: list((checkout.root / ".snakemake/holders").glob("*.json")))
    return call


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGHUP], ids=lambda signum: signum.name)
def test_the_call_after_one_that_was_killed_just_works(checkout: Checkout, signum: signal.Signals) -> None:
    with exclusive(host_lock(), waiting=lambda: None):
        call = holding(checkout)
        live = checkout.run("snakemake", "--force", PLAN, check=False)
        assert live.returncode == 1
        assert "Directory cannot be locked" in live.stdout, "a live call's lock is kept"
        assert lock_files(checkout.root) == ["0.input.lock", "0.output.lock"]
        os.killpg(call.pid, signum)
        call.wait()
        assert lock_files(checkout.root), "or there was nothing to remove"
        again = checkout.run("snakemake", "--force", PLAN)
    assert "an earlier call was killed on this host; its lock of this folder was removed" in again.stdout
    assert lock_files(checkout.root) == []


class Persistence:
    """Snakemake's own list of its lock files."""

    def __init__(self, file: Path) -> None:
        self._lockfile = {"output": str(file)}


def lock_of_a_dead_call(folder: Path, **noted: str) -> Path:
    """A lock file that a process noted as its own before it ended."""
    file = folder / "locks/0.output.lock"
    file.parent.mkdir(parents=True)
    file.write_text("x\n")
    pid = os.fork()
    if pid == 0:
        note_locks(Persistence(file), folder)
        os._exit(0)
    os.waitpid(pid, 0)
    for name, value in noted.items():
        (note,) = (folder / "holders").glob("*.json")
        note.write_text(note.read_text().replace(f'"{name}": "{os.uname().nodename}"', f'"{name}": "{value}"'))
    return file


def test_the_lock_of_a_call_that_ended_is_removed_once(tmp_path: Path) -> None:
    file = lock_of_a_dead_call(tmp_path)
    assert len(release_dead_locks(tmp_path)) == 1
    assert not file.exists()
    assert release_dead_locks(tmp_path) == []
    assert list((tmp_path / "holders").iterdir()) == []


def test_a_later_lock_of_the_same_name_is_kept(tmp_path: Path) -> None:
    file = lock_of_a_dead_call(tmp_path)
    file.rename(tmp_path / "old")
    file.write_text("of another call\n")
    assert release_dead_locks(tmp_path) == []
    assert file.read_text() == "of another call\n"


def test_the_lock_of_another_host_is_kept(tmp_path: Path) -> None:
    file = lock_of_a_dead_call(tmp_path, host="elsewhere")
    assert release_dead_locks(tmp_path) == []
    assert file.exists()


def test_notes_that_cannot_be_read_release_nothing(tmp_path: Path) -> None:
    file = lock_of_a_dead_call(tmp_path)
    (note,) = (tmp_path / "holders").glob("*.json")
    for content in (b"", b"[]", b'{"host": 3}', b"\xff"):
        note.write_bytes(content)
        assert release_dead_locks(tmp_path) == []
    assert file.exists()
