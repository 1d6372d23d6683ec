"""Calls commands many times, each in a process of its own that begins with the modules imported here."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

NOBODY = 65534
HUNG = -99
"""Status of a command that was stopped at its time limit."""


@dataclass(frozen=True)
class Ended:
    """The status and the output of a command."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def crashed(self) -> bool:
        """Whether it printed a traceback, or was ended by a signal."""
        return "Traceback (most recent call last)" in self.out + self.err or (self.status < 0 and not self.hung)

    @property
    def hung(self) -> bool:
        return self.status == HUNG


def call(
    words: Sequence[str],
    folder: Path,
    *,
    seconds: float = 60,
    as_nobody: bool = False,
    reader_left: bool = False,
    output: Path | None = None,
    **environment: str,
) -> Ended:
    """Call `scalestudy WORDS` in a folder. as_nobody: as a user who owns nothing.

    reader_left: the reader of its output has gone. output: another destination for its output.
    """
    from scalestudy.__main__ import main

    def child() -> int:
        os.chdir(folder)
        if reader_left:
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, 1)
        if output:
            os.dup2(os.open(output, os.O_WRONLY), 1)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        os.environ.update(environment)
        tempfile.tempdir = None  # the parent's, which another user may not enter
        if as_nobody:
            become_nobody()
        sys.argv = ["scalestudy", *words]
        sys.orig_argv = [sys.executable, "-m", "scalestudy", *words]
        return main()

    return in_a_fork(child, seconds=seconds)


def become_nobody() -> None:
    """Continue as a user who owns nothing, in whose name imports still find Python and its packages.

    The interpreter may be in a folder that only its owner enters, such as /root/.pyenv. So the process keeps the
    right to return to its user, and does so while it reads a module, and at no other time.
    """
    owner = os.geteuid()
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, owner)
    sys.meta_path.insert(0, _Finder(owner))


class _Finder(MetaPathFinder):
    """Finds modules as the user who owns them."""

    def __init__(self, owner: int) -> None:
        self._owner = owner

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        with _as(self._owner):
            found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None:
            found.loader = _Loader(found.loader, self._owner)
        return found


class _Loader(Loader):
    """Reads a module as the user who owns it, and executes it as the present one."""

    def __init__(self, loader: Any, owner: int) -> None:
        self._loader, self._owner = loader, owner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        with _as(self._owner):
            return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        with _as(self._owner):
            code = self._loader.get_code(module.__name__)
        if code is None:  # an extension
            self._loader.exec_module(module)
        else:
            exec(code, module.__dict__)


@contextlib.contextmanager
def _as(user: int) -> Iterator[None]:
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(NOBODY)


def load_all() -> None:
    """Import the modules that commands import when they are called, so that calls are fast."""
    import scalestudy

    for module in (
        "encodings.utf_8_sig",
        "mimetypes",
        "netrc",
        "requests",
        "sklearn.datasets",
    ):
        importlib.import_module(module)
    rooms = (
        "analyse",
        "cli",
        "compare",
        "diagnose",
        "importers",
        "publish",
        "registry",
        "study",
        "tune",
        "verify",
    )
    for module in pkgutil.walk_packages(scalestudy.__path__, "scalestudy."):
        if module.name.split(".")[1] in rooms:
            importlib.import_module(module.name)


def in_a_fork(function: Callable[[], Any], *, seconds: float) -> Ended:
    """Call a function in a fork. Its return value becomes the exit status, as with `sys.exit`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _be(function, out.fileno(), err.fileno())
        status = _wait(pid, begin + seconds)
        passed = time.monotonic() - begin
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", errors="replace"))
    return Ended(status, texts[0], texts[1], passed)


def _be(function: Callable[[], Any], out: int, err: int) -> None:
    """Run the function in the forked process. Never returns."""
    status: Any = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        try:
            status = function()
        except SystemExit as end:
            status = end.code
        sys.stdout.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else int(bool(status)))


def _wait(pid: int, end: float) -> int:
    pause = 0.001
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return HUNG
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)
