"""A process group that cannot outlive us: started, watched, ended as one."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

GRACE_S = 20.0  # a rank writes its part when it is told to end
POLL_S = 0.1
PR_SET_PDEATHSIG = 1


class Interrupted(BaseException):
    """We were told to end (Ctrl-C, or SIGTERM from a scheduler); carries the signal."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


def run_group(
    command: list[str],
    *,
    environment: dict[str, str],
    log: Path,
    time_limit_s: float,
    watch: Callable[[], None],
) -> tuple[int, bool]:
    """Run a command in a session of its own, output to `log`: (exit code, whether the time limit ended it).

    `watch` is called every 0.1 s. Whatever raises here (Interrupted included), the group is ended first.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
    deadline = time.monotonic() + time_limit_s
    timed_out = False
    try:
        while process.poll() is None:
            watch()
            if time.monotonic() > deadline:
                timed_out = True
                break
            time.sleep(POLL_S)
    finally:
        _end_group(process)
    return process.returncode, timed_out


def _end_group(process: subprocess.Popen) -> None:
    """SIGTERM to what is left of the group, SIGKILL to what is left after a grace period."""
    for signum, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(process.pid, signum)
        except ProcessLookupError:
            break
        end = time.monotonic() + wait_s
        while time.monotonic() < end and _group_alive(process):
            time.sleep(POLL_S)
    process.wait()


def _group_alive(process: subprocess.Popen) -> bool:
    process.poll()  # reap the leader, or it counts as alive for ever
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _end_with_parent() -> None:
    """Ask Linux to send this process SIGTERM should its parent die, however it dies (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def raise_on_signals() -> None:
    """Turn SIGINT, SIGTERM and SIGHUP into Interrupted."""

    def raise_interrupted(signum: int, _frame: object) -> None:
        raise Interrupted(signum)

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, raise_interrupted)


def hold_signals() -> None:
    """From here to our end nothing interrupts: an observation is being moved into its place."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
