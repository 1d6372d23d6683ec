"""Whichever process of a run is killed: nothing that it started outlives it, and its locks last as long."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import alive, wait_for
from scalestudy.launch import family
from scalestudy.launch.process import run_group
from scalestudy.record.lock import exclusive, exclusive_now

# A starter with a rank in a session of its own, as torchrun has; a loader worker of that; and a daemon that has
# left its session, its files and its environment behind. Each leaves a file with its process id.
STARTER = """
import os, signal, subprocess, sys, time
from pathlib import Path
def up(name):
    Path(f"{name}.new").write_text(str(os.getpid()))
    Path(f"{name}.new").rename(f"{name}.pid")
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.execve(sys.executable, [sys.executable, __file__, "sleep", "daemon"], {})
    os.wait()
def wait():
    time.sleep(100)
what = sys.argv[1]
if what == "sleep":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    up(sys.argv[2])
    wait()
if what == "rank":
    if os.fork() == 0:
        up("worker")
        wait()
    daemon()
    up("rank")
    wait()
subprocess.Popen([sys.executable, __file__, "rank"], start_new_session=True)
up("starter")
wait()
"""
NAMES = ("starter", "rank", "worker", "daemon")
LAUNCHER = """
import os, sys
from pathlib import Path
from scalestudy.launch.process import run_group
from scalestudy.record.lock import exclusive
with exclusive(Path("host.lock"), waiting=lambda: None):
    run_group([sys.executable, "starter.py", "start"], environment=dict(os.environ), log=Path("log.txt"),
              time_limit_s=60, watch=lambda: None, grace_s=2)
"""

SYS_EXIT = {"x86_64": 60, "aarch64": 93}
"""Numbers of the system call that ends one thread."""
DYING = f"""
import ctypes, os, signal, threading, time
def last():
    while True:
        time.sleep(0.1)
threading.Thread(target=last, daemon=True).start()
signal.signal(signal.SIGTERM, lambda *_: ctypes.CDLL(None).syscall({SYS_EXIT.get(platform.machine())}, 0))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "starter.py").write_text(STARTER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pids(place: Path) -> dict[str, int]:
    """Of all processes of the run, once they are up."""
    wait_for(lambda: all((place / f"{name}.pid").exists() for name in NAMES))
    return {name: int((place / f"{name}.pid").read_text()) for name in NAMES}


def run() -> tuple[int, bool]:
    command = [sys.executable, "starter.py", "start"]
    return run_group(
        command,
        environment=dict(os.environ),
        log=Path("log.txt"),
        time_limit_s=60,
        watch=lambda: None,
        grace_s=2,
    )


@pytest.mark.parametrize("victim", ["starter", "keeper"])
def test_nothing_lives_when_a_launch_is_over_whose_starter_was_killed(place: Path, victim: str) -> None:
    """The daemon has no mark and no log: only its keeper knows that it is of the run."""
    found: dict[str, int] = {}

    def kill() -> None:
        found.update(pids(place))
        parent = int(Path(f"/proc/{found['starter']}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(parent if victim == "keeper" else found["starter"], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    code, timed_out = run()
    killer.join()
    known = NAMES[:-1] if victim == "keeper" else NAMES
    living = [name for name in known if alive(found[name])]
    if alive(found["daemon"]):
        os.kill(found["daemon"], signal.SIGKILL)
    assert living == []
    assert (code, timed_out) == (-signal.SIGKILL, False)


def test_a_killed_launcher_frees_its_lock_only_when_what_it_started_has_ended(place: Path) -> None:
    launcher = subprocess.Popen([sys.executable, "-c", LAUNCHER])
    found = pids(place)
    with exclusive_now(place / "host.lock") as free:
        assert not free
    launcher.kill()
    launcher.wait()
    with exclusive(place / "host.lock", waiting=lambda: None):
        living = [name for name in NAMES if alive(found[name])]
    for name in living:
        os.kill(found[name], signal.SIGKILL)
    assert living == []
    assert not (place / "host.lock").exists()


def test_the_lock_of_a_killed_launcher_leaves_no_file(place: Path) -> None:
    launcher = subprocess.Popen([sys.executable, "-c", LAUNCHER])
    pids(place)
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not (place / "host.lock").exists(), seconds=30)


@pytest.mark.skipif(platform.machine() not in SYS_EXIT, reason="the number of the system call is not known")
def test_a_launcher_whose_threads_do_not_end_at_once_leaves_no_lock(place: Path) -> None:
    """SIGKILL ends threads one by one, and on a busy host the last may end long after the main thread.

    Here the main thread ends, and the other one does not until the test is over.
    """
    launcher = subprocess.Popen([sys.executable, "-c", DYING + LAUNCHER])
    try:
        found = pids(place)
        launcher.terminate()
        wait_for(lambda: not (place / "host.lock").exists(), seconds=30)
        assert launcher.poll() is None
        assert [name for name in NAMES if alive(found[name])] == []
    finally:
        launcher.kill()
        launcher.wait()


def test_who_reads_the_log_is_not_of_the_launch(place: Path) -> None:
    """As `tail -f` of a user."""
    readers: list[subprocess.Popen[bytes]] = []

    def look() -> None:
        pids(place)
        readers.append(subprocess.Popen(["tail", "-f", "log.txt"], stdout=subprocess.DEVNULL))
        time.sleep(0.2)
        os.kill(int((place / "starter.pid").read_text()), signal.SIGTERM)

    looker = threading.Thread(target=look)
    looker.start()
    run()
    looker.join()
    assert readers[0].poll() is None
    readers[0].kill()
    readers[0].wait()


def test_a_lock_leaves_no_file_and_is_no_file_s_place(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with exclusive(path, waiting=lambda: None):
        assert path.exists()
    assert not path.exists()
    path.mkdir()
    with pytest.raises(ValueError, match=r"a\.lock: cannot be used as a lock .*; remove it"):
        exclusive(path, waiting=lambda: None).__enter__()


def test_files_that_are_closed_meanwhile_are_no_error(tmp_path: Path) -> None:
    """Between the list of a process's files and the look at one of them, the process may close it or end."""
    log = tmp_path / "log.txt"
    log.touch()
    busy = f"import os\nwhile True:\n    os.close(os.open({str(log)!r}, os.O_WRONLY))"
    process, until, seen = subprocess.Popen([sys.executable, "-c", busy]), time.monotonic() + 4, 0
    try:
        place = log.stat()
        while time.monotonic() < until:
            seen += family._writes(process.pid, place)
    finally:
        process.kill()
        process.wait()
    assert seen, "never seen with the file open"
    assert not family._writes(process.pid, place)
