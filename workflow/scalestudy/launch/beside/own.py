"""The processor time of a run's own processes, which must not count as load from others."""

import contextlib
import os
import resource
from dataclasses import dataclass
from pathlib import Path

from scalestudy.record.host.counters import PROC, TICK_S

OURS = (b"snakemake", b"scalestudy")
"""Words in the command of an ancestor process that belongs to the same study as the run."""
WORDS = 3
"""Number of words of a command that are checked: interpreter, script, verb."""


@dataclass(frozen=True)
class Process:
    """A process at one moment, from /proc."""

    pid: int
    parent: int
    session: int
    begun: int
    """Ticks after the start of the host: distinguishes it from a later process with the same id."""
    own_ticks: int
    reaped_ticks: int
    """Ticks of its children that have ended, and of their children."""


class OwnProcesses:
    """Processor time of this process, of the processes that it started, of the parent of forked ranks, and of the
    ancestors that belong to the study.

    The ranks are found by parent and by session, from children with their own session (launch/process.py). root:
    the process that became the ranks of this node, where this process only watches it. marks: consecutive
    arguments in the command of the process that ranks are forked from, which is not a child of this process.
    """

    def __init__(self, marks: tuple[str, ...] = (), *, root: int | None = None, proc: Path = PROC) -> None:
        self._proc, self._me, self._root = proc, os.getpid(), root
        self._mark = b"\0".join(mark.encode() for mark in marks)
        self._marked: dict[tuple[int, int], bool] = {}
        self._served = self._ancestors()

    def cpu_s(self) -> float:
        """Seconds of processor time since these processes began.

        Children are read before their parents, which inherit the time of children that end. So no time is missed,
        but a process that ends meanwhile may be counted twice.
        """
        found = {one.pid: one for one in self._processes()}
        family = self._family(found)
        ticks = sum(one.own_ticks + one.reaped_ticks for one in family)
        ticks += sum(found[pid].own_ticks for pid in self._served if pid in found)
        if self._root is not None:  # this process is one of the family
            return ticks * TICK_S
        mine = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return ticks * TICK_S + sum(usage.ru_utime + usage.ru_stime for usage in mine)

    def pids(self) -> set[int]:
        """Ids of the run's processes that are alive."""
        return {one.pid for one in self._family({one.pid: one for one in self._processes()})}

    def _family(self, found: dict[int, Process]) -> list[Process]:
        children: dict[int, list[Process]] = {}
        for one in found.values():
            children.setdefault(one.parent, []).append(one)
        if self._root is None:
            started = [one for one in children.get(self._me, []) if one.session == one.pid]
        else:
            started = [found[self._root]] if self._root in found else []
        waiting = started + [one for one in found.values() if self._is_marked(one)]
        family: dict[int, Process] = {}
        while waiting:
            one = waiting.pop()
            if one.pid not in family:
                family[one.pid] = one
                waiting += children.get(one.pid, [])
        sessions = {one.session for one in family.values()} - {os.getsid(0), 0}
        family |= {
            one.pid: one for one in found.values() if one.session in sessions
        }  # also where the parent has ended
        return list(family.values())

    def _is_marked(self, process: Process) -> bool:
        if not self._mark:
            return False
        key = process.pid, process.begun
        if key not in self._marked:
            self._marked[key] = self._mark in _command(self._proc, process.pid)
        return self._marked[key]

    def _processes(self) -> list[Process]:
        """All processes, larger ids first, since children usually have larger ids than their parents."""
        names = os.listdir(self._proc)  # noqa: PTH208  (of a thousand processes, four times a second)
        pids = sorted((int(name) for name in names if name.isdigit()), reverse=True)
        return [one for pid in pids if (one := _process(self._proc, pid)) is not None]

    def _ancestors(self) -> set[int]:
        """Ids of the ancestors of this process that are Snakemake or a command of scalestudy."""
        found, pid = set(), os.getppid()
        while pid > 1 and (one := _process(self._proc, pid)) is not None:
            words = b" ".join(_command(self._proc, pid).split(b"\0")[:WORDS])
            if any(word in words for word in OURS):
                found.add(pid)
            pid = one.parent
        return found


def _process(proc: Path, pid: int) -> Process | None:
    """A process from /proc; None where it has ended."""
    try:
        with open(f"{proc}/{pid}/stat", "rb") as file:  # noqa: PTH123  (half the time of a Path)
            content = file.read()
    except OSError:
        return None
    fields = content[content.rindex(b")") + 2 :].split()  # the name before it may contain any character
    parent, session = int(fields[1]), int(fields[3])
    user, system, of_children, in_children = map(int, fields[11:15])
    return Process(pid, parent, session, int(fields[19]), user + system, of_children + in_children)


def _command(proc: Path, pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return (proc / str(pid) / "cmdline").read_bytes()
    return b""
