"""Finds and ends the processes of one run, however they were started.

A process belongs to a run if its initial environment has the run's mark, if it writes to the run's log, or if it
descends from the run's keeper. Ranks, their loader workers and daemons have the mark; forked ranks have the log
open. Only the standard library is imported, so that the keeper starts fast.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MARK = "SCALESTUDY_LAUNCH"
"""The variable that all processes of a run inherit."""
PARENT = b"scalestudy.launch.forked.parent"
"""In the command line of the process that ranks are forked from. It serves the next run too."""
CLEANERS = (b"multiprocessing.resource_tracker", b"torch_shm_manager")
"""Processes that remove shared memory once its users have ended, and then exit by themselves."""
CLEANING_S = 3.0
LINGER_S = 0.5
"""Seconds for processes to exit by themselves before SIGTERM is sent."""
POLL_S = 0.02
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def end_with_parent(signum: int) -> None:
    """Make Linux send this process a signal when its parent dies, however it dies (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signum)


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent dies (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def of_launch(mark: str, log: Path) -> set[int]:
    """Ids of this user's processes that have the mark, or the log open for writing, except for this process."""
    marked, found = f"{MARK}={mark}".encode(), set()
    with contextlib.suppress(OSError):
        place = log.stat()
        for pid in living():
            if pid != os.getpid() and (_has(pid, marked) or _writes(pid, place)):
                found.add(pid)
    return found


def descendants(root: int, *, without: bytes | None = None) -> set[int]:
    """Ids of the processes that descend from a process.

    without: a process whose command line contains this is left out, together with its descendants.
    """
    children: dict[int, list[int]] = {}
    for pid in living():
        with contextlib.suppress(OSError, IndexError):
            children.setdefault(_parent_of(pid), []).append(pid)
    found, open_ends = set(), [root]
    while open_ends:
        for pid in children.get(open_ends.pop(), []):
            if without is None or without not in _command_of(pid):
                found.add(pid)
                open_ends.append(pid)
    return found


def end_all(find: Callable[[], set[int]], *, grace_s: float, reap: Callable[[], None] = lambda: None) -> None:
    """End all processes that `find` returns, until it returns none: SIGTERM, then SIGKILL after `grace_s` seconds.

    A stopped process is resumed, so that it can end. A process that only cleans up gets extra time after the
    others have ended. reap: called in each round; collects the exit codes of children.
    """
    begin = time.monotonic()
    told: set[int] = set()
    cleaning_until = float("inf")
    while True:
        reap()
        found = find()
        if not found:
            return
        now = time.monotonic()
        cleaners = {pid for pid in found if any(word in _command_of(pid) for word in CLEANERS)}
        if found == cleaners:
            cleaning_until = min(cleaning_until, now + CLEANING_S)
            _send(cleaners if now > cleaning_until else set(), signal.SIGKILL)
        elif now - begin > grace_s:
            _send(found - cleaners, signal.SIGKILL)
        elif now - begin > min(LINGER_S, grace_s / 2):
            _send(found - cleaners - told, signal.SIGTERM, signal.SIGCONT)
            told |= found - cleaners
        time.sleep(POLL_S)


def living() -> Iterator[int]:
    """Ids of this user's processes that have not ended. Zombies count as ended."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                if entry.stat().st_uid == os.getuid() and not has_ended(int(entry.name)):
                    yield int(entry.name)


def has_ended(pid: int) -> bool:
    """Whether a process has ended, or its main thread has.

    A killed process remains the parent of its children until its last thread has ended. On a busy host that can
    take longer than the end of a run.
    """
    try:
        return _status(pid)[0] in ("Z", "X")
    except (OSError, IndexError):
        return True


def _status(pid: int) -> list[str]:
    """The fields after the name in /proc/PID/stat (proc_pid_stat(5)): the state, the parent's id, and so on."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()


def _parent_of(pid: int) -> int:
    return int(_status(pid)[1])


def read_of(pid: int, name: str) -> bytes:
    """The content of /proc/PID/NAME; empty if the process has ended or belongs to another user."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _command_of(pid: int) -> bytes:
    return read_of(pid, "cmdline")


def _has(pid: int, variable: bytes) -> bool:
    return variable in read_of(pid, "environ").split(b"\0")


def _writes(pid: int, place: os.stat_result) -> bool:
    """Whether a process has a file open for writing. A process that only displays the log reads it."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found = entry.stat()
                if (found.st_dev, found.st_ino) == (place.st_dev, place.st_ino):
                    flags = read_of(pid, f"fdinfo/{entry.name}").partition(b"flags:")[2].split()
                    if flags and int(flags[0], 8) & os.O_ACCMODE != os.O_RDONLY:  # none: closed meanwhile
                        return True
    return False


def _send(pids: set[int], *signals: int) -> None:
    for pid in pids:
        for signum in signals:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signum)
