"""A lock has one holder, others wait for it, and it is released whatever ends its holder."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from scalestudy.record.lock import exclusive, exclusive_now

HOLDER = """
import subprocess, sys, time
from pathlib import Path
from scalestudy.record.lock import exclusive
with exclusive(Path(sys.argv[1]), waiting=lambda: None):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print(child.pid, flush=True)
    time.sleep(60)
"""


def test_a_lock_is_waited_for_and_goes_with_its_holder(tmp_path: Path) -> None:
    """A child of the holder continues to run, and does not hold the lock."""
    path = tmp_path / "deep" / "run.lock"
    waited = []
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    child = int(holder.stdout.readline())

    def waiting() -> None:
        waited.append(True)
        holder.kill()

    with exclusive(path, waiting=waiting):
        assert waited == [True]
        assert Path(f"/proc/{child}").exists()
    subprocess.run(["kill", str(child)], check=True)
    holder.wait()
    holder.stdout.close()


@pytest.mark.parametrize("content", [b"", b"\0" * 4096], ids=["empty", "zeros"])
@pytest.mark.fault(
    fault="a power cut leaves a lock file",
    moment="between two calls",
    outcome="the lock is free, and its file is removed at the end of the next call",
    kept="every run",
    next_call="does not wait",
)
def test_a_file_that_a_power_cut_left_holds_nothing(tmp_path: Path, content: bytes) -> None:
    """The kernel has the lock, not the file: what is in the file, and who made it, does not matter."""
    path = tmp_path / "run.lock"
    path.write_bytes(content)
    path.chmod(0o444 if os.geteuid() == 0 else 0o644)
    with exclusive_now(path) as free:
        assert free
        with exclusive_now(path) as again:
            assert not again, "and now it is held"
    assert not path.exists()
    path.write_bytes(content)
    with exclusive(path, waiting=lambda: pytest.fail("nobody holds it")):
        pass
    assert not path.exists()


def test_two_threads_of_a_process_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    waits, done = threading.Event(), threading.Event()

    def second() -> None:
        with exclusive(path, waiting=waits.set):
            done.set()

    other = threading.Thread(target=second)
    with exclusive(path, waiting=lambda: pytest.fail("nobody holds it")):
        other.start()
        assert waits.wait(timeout=60)
        assert not done.is_set()
        with exclusive_now(path) as free:
            assert not free
    other.join(timeout=60)
    assert done.is_set()
    with exclusive_now(path) as free:
        assert free


def test_a_file_system_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Lustre without its mount option: a file in place of a lock would outlive a killed process."""

    def missing(handle: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", missing)
    with pytest.raises(OSError, match="not implemented"), exclusive_now(tmp_path / "lock"):
        pass
