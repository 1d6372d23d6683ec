"""Stands between a launcher and what it starts: ends everything that the launch started, whoever is killed.

It runs as a file and needs the standard library only. What it is to start comes as JSON on standard input; the
exit code of that goes to standard output, and what it prints to standard error. Orphans of the launch become its
children. It ends all of them when the command has ended, when it gets SIGTERM, and when the launcher dies. Until
then it holds the launcher's locks.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalestudy.launch import family

LEFT_S = 15.0
"""Seconds that processes get which are left when the command has ended: a rank writes its report in them."""
LEFT_LATE_S = 1.0
"""The same where the command was told to end and did not: they were told with it."""


def main() -> int:
    """Start the command, and end what it started: always 0, since the exit code of the command is printed."""
    task: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(signum, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    family.adopt_orphans()
    log, temporary = Path(task["log"]), Path(task["environment"].get("TMPDIR") or "/tmp")
    memory, folders = family.shared_memory(), family.sharing_folders(temporary)
    try:
        process = subprocess.Popen(
            task["command"],
            env=task["environment"],
            cwd=task["directory"],
            stdin=subprocess.DEVNULL,
            stdout=2,
            start_new_session=True,
            preexec_fn=lambda: family.end_with_parent(signal.SIGTERM),
        )
    except OSError as error:
        say(f"errno {error.errno}")
        return 0
    codes: dict[int, int] = {}

    def reap() -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                codes[found[0]] = os.waitstatus_to_exitcode(found[1])

    kill_at, left_s = float("inf"), LEFT_S
    while process.pid not in codes:
        told = _wait(waking, 1.0)
        if kill_at == float("inf") and (told or os.getppid() != task["launcher"]):
            kill_at = time.monotonic() + task["grace_s"]
            _send_group(process.pid, signal.SIGTERM)
        elif time.monotonic() > kill_at:
            left_s = LEFT_LATE_S
            _send_group(process.pid, signal.SIGKILL)
        reap()

    def left() -> set[int]:
        """The parent of forked ranks outlives this launch; ranks that it forked are known by the log."""
        ours = family.descendants(os.getpid(), without=family.PARENT)
        return (family.of_launch(task["mark"], log) | ours) - {task["launcher"]}

    family.end_all(
        left,
        grace_s=min(left_s, task["grace_s"]),
        reap=reap,
    )
    family.remove_shared_memory(memory)
    family.remove_sharing_folders(temporary, folders)
    if os.getppid() != task["launcher"]:
        for lock in task["locks"]:  # their holder is gone, and nobody else holds them while we do
            with contextlib.suppress(OSError):
                Path(lock).unlink()
    say(str(codes[process.pid]))
    return 0


def say(end: str) -> None:
    """Tell the launcher, if that still lives, an exit code, or the error with which the command did not start."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, end.encode())


def _wait(waking: socket.socket, seconds: float) -> bool:
    """Until a signal comes, or the time is over: whether it was one that tells us to end."""
    select.select([waking], [], [], seconds)
    with contextlib.suppress(BlockingIOError):
        return any(signum != signal.SIGCHLD for signum in waking.recv(4096))
    return False


def _send_group(pid: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signum)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # it runs as a file
    from scalestudy.launch import family

    sys.exit(main())
