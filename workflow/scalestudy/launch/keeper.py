"""A process between the launcher and the ranks. It ends all processes of a run, whichever process is killed.

It runs as a file and needs only the standard library. It reads the command as JSON from standard input, writes the
command's exit code to standard output, and sends the command's output to standard error. Orphans of the run become
its children. It ends all of them when the command has ended, on SIGTERM, and when the launcher dies. Until then it
holds the launcher's locks.
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
    from scalestudy.launch import family, leftovers

LEFT_S = 15.0
"""Seconds for processes that are left when the command has ended, in which a rank can write its report."""
LEFT_LATE_S = 1.0
"""The same where the command did not end on SIGTERM: these processes got SIGTERM at the same time."""


def main() -> int:
    """Start the command, and end what it started. Always returns 0: the exit code of the command is printed."""
    task: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(signum, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    family.adopt_orphans()
    log, temporary = Path(task["log"]), Path(task["environment"].get("TMPDIR") or "/tmp")
    memory, folders = leftovers.shared_memory(), leftovers.sharing_folders(temporary)
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
        """Processes of the run that are left. The parent of forked ranks outlives the run and is left out; its
        forked ranks are found by their open log."""
        ours = family.descendants(os.getpid(), without=family.PARENT)
        return (family.of_launch(task["mark"], log) | ours) - {task["launcher"]}

    family.end_all(
        left,
        grace_s=min(left_s, task["grace_s"]),
        reap=reap,
    )
    leftovers.remove_shared_memory(memory)
    leftovers.remove_sharing_folders(temporary, folders)
    if os.getppid() != task["launcher"] or family.has_ended(task["launcher"]):
        for lock in task["locks"]:  # their holder is gone, and while we hold them no other process can
            with contextlib.suppress(OSError):
                Path(lock).unlink()
    say(str(codes[process.pid]))
    return 0


def say(end: str) -> None:
    """Send the launcher, if it is alive, the exit code, or the error that kept the command from starting."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, end.encode())


def _wait(waking: socket.socket, seconds: float) -> bool:
    """Wait for a signal or until the time is over. Returns whether a signal to end came."""
    select.select([waking], [], [], seconds)
    with contextlib.suppress(BlockingIOError):
        return any(signum != signal.SIGCHLD for signum in waking.recv(4096))
    return False


def _send_group(pid: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signum)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # it runs as a file
    from scalestudy.launch import family, leftovers

    sys.exit(main())
