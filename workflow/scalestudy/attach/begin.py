"""Waits until torch is imported, then installs the hooks. Makes a process report however it ends."""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.machinery
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .failure import told_of
from .journal import Journal
from .libraries import of_modules, of_programs, of_torch
from .paths import Paths
from .portions import portion
from .said import SaidByScript

ATTACH, DIRECT = "SCALESTUDY_ATTACH", "SCALESTUDY_DIRECT"
"""Variables: the run's folder `attached`; set for processes that the launcher starts, not for their children."""
ASKED = "asked.json"

said_by_script: SaidByScript | None = None
"""Receives the calls of scalestudy.Recorder."""


def begin() -> None:
    """Attach to this process, at the start of the interpreter."""
    folder = os.environ[ATTACH]
    with open(os.path.join(folder, ASKED), encoding="utf-8") as file:
        asked = json.load(file)
    direct, local_rank = DIRECT in os.environ, os.environ.get("LOCAL_RANK")
    if asked.get("arguments"):
        from .arguments import Check

        os.environ.pop(DIRECT, None)
        Check(folder, direct=direct).begin()
        return
    if direct and local_rank is None and not asked["starts_ranks"]:
        return  # this process starts the ranks, such as torchrun, and is not a rank
    os.environ.pop(DIRECT, None)
    if direct:
        with open(os.path.join(folder, f"{os.getpid()}.started"), "w", encoding="utf-8") as file:
            file.write(os.environ.get("RANK", "0"))
        # A script that starts its ranks itself is not bound, since they would inherit its cores; they are, later.
        bound = asked["pin"] and (local_rank is not None or asked["ranks"] == 1)
        if bound and (mine := portion(int(local_rank or 0))):
            os.sched_setaffinity(0, mine)
    global said_by_script
    attachment = Attachment(folder, asked, direct=direct)
    said_by_script = SaidByScript(lambda: attachment.rank)
    attachment.wait()


class Attachment:
    """The attachment to this interpreter. It has a Rank once torch is imported. A forked child starts again."""

    def __init__(self, folder: str, asked: dict[str, Any], *, direct: bool) -> None:
        self._folder, self._asked, self._direct = folder, asked, direct
        self.rank: Any = None
        self.journal = Journal()
        self._pid = os.getpid()
        self._handler: Any = None
        self._paths = Paths(folder, self._phase)

    def wait(self) -> None:
        """Install what is needed before torch is imported."""
        then = {"torch": self._torch, "torch.distributed.fsdp": self._fsdp}
        sys.meta_path.insert(0, After({**then, **of_modules(self._paths.note)}))
        self._see_errors()
        atexit.register(self._paths.write)
        self._paths.begin()
        of_programs(self._paths.note)

    def _phase(self) -> str:
        """The current phase, as paths.py defines it."""
        rank = self.rank
        if rank is None or not (rank.updates or rank.report.steps):
            return "b"
        return "f" if rank.fetching else "t"

    def _torch(self, torch: Any) -> None:
        from .hooks import hook_torch

        self._make_rank(torch)
        hook_torch(torch, self)
        of_torch(torch, self._paths.note)
        self._see_to_the_end()

    def _fsdp(self, fsdp: Any) -> None:
        from .hooks import hook_fsdp

        hook_fsdp(fsdp, self)

    def _make_rank(self, torch: Any) -> None:
        from .rank import Rank

        self.rank = Rank(self._folder, self._asked, torch, direct=self._direct, journal=self.journal)

    def _see_to_the_end(self) -> None:
        atexit.register(self._close)
        leave = os._exit
        self._see_errors()  # again: modules that were imported may have replaced our hook

        def left(code: int) -> NoReturn:
            self._close()
            leave(code)
            raise AssertionError("os._exit returned")

        os._exit = left  # type: ignore[assignment]
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._told)
            self._handler = self._told
        os.register_at_fork(after_in_child=self._forked)

    def _see_errors(self) -> None:
        hook = sys.excepthook

        def failed(kind: Any, error: Any, where: Any) -> None:
            if self.rank is not None:
                self.rank.failed(error)
            elif self._direct:  # before torch was imported
                with open(os.path.join(self._folder, f"{os.getpid()}.error"), "w", encoding="utf-8") as file:
                    json.dump({"rank": int(os.environ.get("RANK", 0)), **told_of(error)}, file)
            hook(kind, error, where)

        sys.excepthook = failed

    def _close(self) -> None:
        if os.getpid() == self._pid:
            self.rank.close()
            self._paths.write()

    def _told(self, signum: int, _frame: Any) -> None:
        """Handle SIGTERM in a script without a handler for it: report, then end as without us."""
        self.rank.report.facts["told_to_end"] = True
        self._close()
        signal.signal(signum, signal.SIG_DFL)
        os.kill(os.getpid(), signum)

    def _forked(self) -> None:
        """Start again in a forked child: a loader worker, or a rank that the script starts itself."""
        self._pid, self._direct = os.getpid(), False
        if self._handler is not None and signal.getsignal(signal.SIGTERM) == self._handler:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.journal.begin_again()
        self._make_rank(self.rank.torch)


class After(importlib.abc.MetaPathFinder):
    """Calls a function with each of these modules at the end of the module's import."""

    def __init__(self, then: dict[str, Callable[[Any], None]]) -> None:
        self._then = then

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """The module's own spec, with a loader that calls the function at its end."""
        if name not in self._then:
            return None
        act = self._then.pop(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module: Any) -> None:
                execute(module)
                try:
                    act(module)
                except Exception as error:
                    sys.stderr.write(f"scalestudy: not attached: {type(error).__name__}: {error}\n")

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec
