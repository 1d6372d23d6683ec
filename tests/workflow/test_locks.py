"""A call that was killed leaves Snakemake's lock behind; the next call just works, and a live lock is kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import Checkout, wait_for
from scalestudy.chain.locks import live_calls, note_locks, release_dead_locks
from scalestudy.launch.starters import host_lock
from scalestudy.record.lock import exclusive
from scalestudy.record.observation import read_record

PLAN = "results/tiny/plan.json"


def lock_files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / ".snakemake/locks").glob("*.lock"))


def holding(checkout: Checkout) -> subprocess.Popen:
    """A call that holds Snakemake's lock: its launch waits for this host, which the test has."""
    call = checkout.start("snakemake", "results/tiny/runs.csv")
    wait_for(lambda: list((checkout.root / ".snakemake/holders").glob("*.json")))
    return call


@pytest.mark.parametrize(
    "signum",
    [
        pytest.param(signal.SIGKILL, id="SIGKILL"),
        pytest.param(signal.SIGHUP, id="SIGHUP", marks=pytest.mark.slow),
    ],
)
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


@pytest.mark.parametrize(("above", "messages"), [(True, 0), (False, 1)])
def test_a_call_above_this_one_is_not_another_call(tmp_path: Path, above: bool, messages: int) -> None:
    """As of a study that starts the trial of its advice in the same folder."""
    file = tmp_path / "locks/0.output.lock"
    file.parent.mkdir(parents=True)
    file.write_text("x\n")
    note_locks(Persistence(file), tmp_path)
    (note,) = (tmp_path / "holders").glob("*.json")
    if above:
        note.rename(note.with_name(note.name.replace(str(os.getpid()), str(os.getppid()))))
    assert len(live_calls(tmp_path)) == messages


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


@pytest.mark.slow
@pytest.mark.fault(
    fault="a power cut leaves empty lock files and notes of Snakemake, of a run and of the host",
    moment="between two calls",
    outcome="ok",
    kept="every run",
    next_call="measures the missing runs, without a wait and without --unlock",
)
def test_empty_files_that_a_power_cut_left_block_nothing(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the files that a call locks or notes, empty and of a process that is not there any more."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = next(iter(checkout.plan().runs))
    snakemake = checkout.root / ".snakemake"
    left = [
        *(snakemake / f"locks/0.{kind}.lock" for kind in ("input", "output")),
        *(snakemake / f"holders/{os.uname().nodename}-1.{ending}" for ending in ("json", "lock")),
        checkout.root / f"results/tiny/runs/.partial/{run}.lock",
        host_lock(),
    ]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    said = checkout.run("snakemake", f"results/tiny/runs/{run}/run.sha256").stdout
    assert "waiting" not in said and "unlock" not in said
    log = (checkout.root / f"results/tiny/logs/train/{run}.log").read_text()
    assert "waiting" not in log
    assert read_record(checkout.root / "results/tiny/runs" / run).outcome == "ok"
    assert not left[-1].exists() and not left[-2].exists()


def test_the_note_of_a_lock_is_on_the_disk_before_anything_is_done(tmp_path: Path) -> None:
    """Without its note a lock that a power cut left is one of nobody, and would be kept."""
    told = tmp_path / "told"
    code = (
        "import sys; from pathlib import Path; from scalestudy.chain.locks import note_locks;"
        "note_locks(type('P', (), {'_lockfile': {}})(), Path(sys.argv[1]))"
    )
    command = ["strace", "-f", "-qq", "-y", "-o", str(told), "-e", "trace=fsync,rename,renameat2,rename"]
    if shutil.which("strace") is None:
        pytest.skip("strace is missing; on Debian: apt-get install strace")
    subprocess.run([*command, sys.executable, "-c", code, str(tmp_path / "s")], check=True)
    lines = told.read_text().splitlines()
    renamed = next(at for at, line in enumerate(lines) if "rename" in line and "holders" in line)
    assert any(
        "fsync" in line and line.rstrip().endswith("= 0") and "holders>" in line for line in lines[renamed:]
    )
