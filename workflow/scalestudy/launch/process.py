"""Runs a command so that none of its processes outlives this one."""

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from scalestudy.launch import family
from scalestudy.launch import keeper as keeping
from scalestudy.record.lock import held_files

GRACE_S = 45.0  # a rank writes its part on SIGTERM; torchrun gives up on a hanging rank after 30 s
POLL_S = 0.1
Watch = Callable[[], float | None]
"""Called repeatedly. Returns the seconds until the next call should come; None for POLL_S."""


class Interrupted(BaseException):
    """This process got a signal to end (Ctrl-C, or SIGTERM from a scheduler); has the number of the signal."""

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
    """Run a command in its own session, with its output in `log`.

    Returns (exit code, whether the time limit ended the command). Whatever this raises (Interrupted included) and
    whichever process is killed, the command and all processes that it started on this host have ended before this
    returns: by SIGKILL where SIGTERM did not end them within `grace_s` seconds.

    watch: called every 0.1 s, or sooner where it requests that. end: sends "TERM" or "KILL" to processes that the
    command started on other hosts. directory: the command's working directory, if not this one.
    """
    mark = uuid4().hex
    task = {
        "command": command,
        "environment": environment | {family.MARK: mark},
        "directory": directory,
        "log": str(log.resolve()),
        "mark": mark,
        "grace_s": grace_s,
        "launcher": os.getpid(),
        "locks": [str(path.resolve()) for path in held_files().values()],
    }
    with log.open("wb") as output:
        keeper = subprocess.Popen(
            [sys.executable, "-S", keeping.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
            pass_fds=tuple(held_files()),
            preexec_fn=functools.partial(family.end_with_parent, signal.SIGTERM),
        )
    deadline = time.monotonic() + time_limit_s
    timed_out = False
    try:
        _tell(keeper, task)
        while keeper.poll() is None:
            wanted_s = watch()
            if time.monotonic() > deadline:
                timed_out = True
                break
            time.sleep(POLL_S if wanted_s is None else min(wanted_s, POLL_S))
    finally:
        with _undisturbed():
            _end_keeper(keeper, grace_s, end)
            family.end_all(lambda: family.of_launch(mark, log), grace_s=min(keeping.LEFT_S, grace_s))
    return _exit_code(keeper, command[0]), timed_out


def _tell(keeper: subprocess.Popen[bytes], task: dict[str, Any]) -> None:
    assert keeper.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # the keeper was killed
        keeper.stdin.write(json.dumps(task).encode())
        keeper.stdin.flush()
    with contextlib.suppress(BrokenPipeError):
        keeper.stdin.close()


def _exit_code(keeper: subprocess.Popen[bytes], command: str) -> int:
    """The exit code of the command, or of its keeper where that was killed.

    Raises OSError where the command did not start.
    """
    assert keeper.stdout is not None
    with keeper.stdout as said:
        words = said.read().split()
    if words[:1] == [b"errno"]:
        raise OSError(int(words[1]), os.strerror(int(words[1])), command)
    return int(words[0]) if words else keeper.returncode


def _end_keeper(keeper: subprocess.Popen[bytes], grace_s: float, end: Callable[[str], None] | None) -> None:
    """Make the keeper end what it started. If it does not, kill it; the caller then ends its orphans."""
    if end is None:
        keeper.terminate()
    elif keeper.poll() is None:
        end("TERM")  # not to the command: it waits for what it started, and on SIGTERM would leave that running
    try:
        keeper.wait(timeout=grace_s if end is not None else grace_s + 2 * keeping.LEFT_S)
    except subprocess.TimeoutExpired:
        if end is not None:
            end("KILL")
        keeper.kill()
        keeper.wait()


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay signals to end, so that a second Ctrl-C does not release the host while ranks are running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {signum: signal.signal(signum, lambda number, _: came.append(number)) for signum in ENDING}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    if came:
        signal.raise_signal(came[0])


def raise_on_signals() -> None:
    """Turn SIGINT, SIGTERM and SIGHUP into Interrupted."""

    def raise_interrupted(signum: int, _frame: object) -> None:
        raise Interrupted(signum)

    for signum in ENDING:
        signal.signal(signum, raise_interrupted)


def hold_signals() -> None:
    """Ignore signals to end from here on, since a record is being written."""
    for signum in ENDING:
        signal.signal(signum, signal.SIG_IGN)
