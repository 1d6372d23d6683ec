"""Ends a process when the call that it works for has ended, however that ended.

`scalestudy verify` starts Snakemake, which starts a shell, which starts `scalestudy stage train`. A SIGKILL to one
of them reaches no other. So each of them adds itself to a variable that the processes below inherit, and watches
those above. PR_SET_PDEATHSIG is not enough: the shell in between does not set it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

CALLERS = "SCALESTUDY_CALLERS"
"""The variable with the processes above, each as NAMESPACE.PID.START."""
POLL_S = 1.0


def add_caller(*, only: bool = False) -> None:
    """Add this process to those whose end also ends the processes that it starts.

    only: forget the processes above it, as in a job of a cluster, which outlives the call that submitted it.
    """
    above = [] if only else os.environ.get(CALLERS, "").split()
    mine = _identity(os.getpid())
    os.environ[CALLERS] = " ".join(dict.fromkeys([*above, *filter(None, [mine])]))


def end_with_callers(signum: int) -> None:
    """Send this process a signal once, when one of the processes above it has ended."""
    above = callers(os.environ)
    if above:
        threading.Thread(target=_watch, args=(above, signum), daemon=True).start()


def callers(environment: Mapping[str, str]) -> dict[int, str]:
    """Return the processes above this one in its namespace of processes: id -> identity."""
    mine = _identity(os.getpid())
    found = [word for word in environment.get(CALLERS, "").split() if word.count(".") == 2 and word != mine]
    return {int(word.split(".")[1]): word for word in found if word.split(".")[0] == _namespace()}


def _watch(above: Mapping[int, str], signum: int) -> None:
    while all(_identity(pid) == known for pid, known in above.items()):
        time.sleep(POLL_S)
    ignored = signal.getsignal(signum) is signal.SIG_IGN  # as in the background of a shell
    os.kill(os.getpid(), signal.SIGTERM if ignored else signum)


def _namespace() -> str:
    """Return the number of this process's namespace of process ids: a container may have its own."""
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return ""


def _identity(pid: int) -> str:
    """Return what distinguishes a process from a later one with the same id; '' if it has ended."""
    with suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()
        if status[0] not in ("Z", "X"):
            return f"{_namespace()}.{pid}.{status[19]}"
    return ""
