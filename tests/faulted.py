"""A run that is hit by a fault at a chosen moment, and what remains of it. Real processes, two ranks over gloo."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from conftest import BIN, alive, wait_for
from launches import spec_of
from moment_rank import FOLDER, MOMENT
from scalestudy.launch.leftovers import shared_memory
from scalestudy.record.lock import exclusive
from scalestudy.study.spec import WORKER, RunSpec

PARENT = "scalestudy.launch.forked.parent"
HANG_UP = "hang-up"
CACHE = "torchinductor_"
"""Name prefix of torch's cache of compiled code, which the next run uses."""
SOON_S = 120
"""Seconds in which a signalled process ends under heavy load."""


def memory_left(before: set[str]) -> set[str]:
    """Return the names of shared memory that was created since `before` and stays.

    Other tests run beside this one, whose loader workers create memory too; it is gone within seconds.
    """
    left = shared_memory() - before
    end = time.monotonic() + SOON_S
    while left and time.monotonic() < end:
        time.sleep(0.1)
        left &= shared_memory()
    return left


@dataclass
class Faulted:
    """A run to be hit by a fault. results: shared by the runs of a module, so that their ranks have one parent."""

    results: Path
    folder: Path
    """Folder of this run: its temporary files, and the files by which test and rank communicate."""
    moment: str
    seed: int
    environment: dict[str, str] = field(default_factory=dict)
    """Variables added to the command's environment."""
    memory: set[str] = field(default_factory=shared_memory)
    pids: dict[str, int] = field(default_factory=dict)
    terminal: int | None = None

    def __post_init__(self) -> None:
        self.temporary.mkdir()

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def spec(self) -> RunSpec:
        environment = {WORKER: "moment_rank", MOMENT: self.moment, FOLDER: str(self.folder)}
        environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
        if self.moment == "preparing":
            environment = {}
        host: dict[str, Any] = {"start": "fork", "environment": environment}
        measure = {"probe_rounds": 1, "probe_steps": 2, "block_steps": 4}
        return spec_of({"strategy": "ddp"}, host=host, measure=measure, seed=self.seed)

    @property
    def run(self) -> Path:
        return self.results / "runs" / self.spec.run_id

    @property
    def partial(self) -> Path:
        return self.results / "runs/.partial" / self.spec.run_id

    def call(self, *, terminal: bool = False, stall_limit_s: float = 90) -> subprocess.Popen[str]:
        """Start the command, on a terminal of its own if requested."""
        spec = self.spec.to_json()
        command = [str(BIN / "scalestudy"), "train", "--spec", spec, "--results", str(self.results)]
        ours = theirs = subprocess.PIPE
        if terminal:
            self.terminal, theirs = pty.openpty()
        process = subprocess.Popen(
            [*command, "--time-limit-min=5", f"--stall-limit-s={stall_limit_s}"],
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.temporary)} | self.environment,
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs if terminal else subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if terminal else None,
        )
        if terminal:
            os.close(theirs)
        assert ours
        return process

    def meet(self, process: subprocess.Popen[str]) -> None:
        """Wait for the moment, and find all processes of the run."""
        self.pids = {"launcher": process.pid}
        if self.moment == "preparing":
            wait_for((self.partial / "attempt.json").exists)
            return
        wait_for(lambda: self.is_there)
        rank = psutil.Process(int((self.folder / "at").read_text()))
        (keeper,) = psutil.Process(process.pid).children()
        starter = next(child for child in keeper.children() if PARENT not in child.cmdline())
        self.pids |= {"rank": rank.pid, "supervisor": rank.ppid(), "keeper": keeper.pid, "starter": starter.pid}
        self.pids |= {f"rank {at}": pid.pid for at, pid in enumerate(psutil.Process(rank.ppid()).children())}

    @property
    def is_there(self) -> bool:
        """Return whether a rank waits at the moment."""
        return (self.folder / "at").exists()

    def hit(self, victim: str, fault: int | str) -> None:
        """Inject the fault. A stopped process is continued a moment later."""
        if fault == HANG_UP:
            assert self.terminal is not None
            os.close(self.terminal)
            self.terminal = None
            return
        assert isinstance(fault, int)
        os.kill(self.pids[victim], fault)
        if fault == signal.SIGSTOP:
            wait_for(lambda: psutil.Process(self.pids[victim]).status() == psutil.STATUS_STOPPED)
            os.kill(self.pids[victim], signal.SIGCONT)

    def let_go(self) -> None:
        (self.folder / "go").touch()

    def held_host(self) -> contextlib.AbstractContextManager[object]:
        """Hold the host's lock, as another measurement would, only during the preparation."""
        if self.moment != "preparing":
            return contextlib.nullcontext()
        lock = self.temporary / f"scalestudy-{os.getuid()}.lock"
        return exclusive(lock, waiting=lambda: None)

    def left_over(self) -> list[str]:
        """Return what should not be left: processes, locks, temporary files, shared memory, parts of runs."""
        found = [f"process {who}" for who, pid in self.pids.items() if alive(pid)]
        found += [f"lock {path.name}" for path in self.results.rglob("*.lock")]
        names = [path.name for path in self.temporary.iterdir() if not path.name.startswith(CACHE)]
        found += [f"temporary {name}" for name in names]
        found += [f"shared memory {name}" for name in memory_left(self.memory)]
        return found + [f"partial {self.partial.name}" for _ in [0] if self.partial.exists()]
