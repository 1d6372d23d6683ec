"""A process group that cannot outlive us: started, watched, ended as one."""

import contextlib
import functools
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from scalestudy.launch.ranks import end_with_parent

GRACE_S = 45.0  # a rank writes its part when told to end; torchrun gives up on a hanging one after 30 s
POLL_S = 0.1
Watch = Callable[[], float | None]
"""Called again and again; gives the seconds after which it wants to be called again, None for POLL_S."""


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
    watch: Watch,
    grace_s: float = GRACE_S,
    end: Callable[[str], None] | None = None,
    directory: str | None = None,
) -> tuple[int, bool]:
    """Run a command in a session of its own, output to `log`: (exit code, whether the time limit ended it).

    `watch` is called every 0.1 s, or sooner where it asks for it. Whatever raises here (Interrupted included), the
    process and all its descendants are ended first, by SIGKILL where SIGTERM has not done it after `grace_s`
    seconds. `end` sends "TERM" or "KILL" to processes that the command started elsewhere.
    directory: where it runs, if not here.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=functools.partial(end_with_parent, signal.SIGTERM),
        )
    deadline = time.monotonic() + time_limit_s
    timed_out = False
    try:
        while process.poll() is None:
            wanted_s = watch()
            if time.monotonic() > deadline:
                timed_out = True
                break
            time.sleep(POLL_S if wanted_s is None else min(wanted_s, POLL_S))
    finally:
        _end_family(process, grace_s, end)
    return process.returncode, timed_out


def _end_family(process: subprocess.Popen[bytes], grace_s: float, end: Callable[[str], None] | None) -> None:
    """SIGTERM to the group, SIGKILL to what is left of the family: torchrun puts its ranks into other sessions."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    if end is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    elif process.poll() is None:
        end("TERM")  # the command itself waits for what it started: told to end, it would leave it alone
    try:
        process.wait(timeout=grace_s)
    except subprocess.TimeoutExpired:
        if end is not None:
            end("KILL")
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(family, timeout=1)
    for orphan in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            orphan.kill()


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
