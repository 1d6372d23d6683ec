"""Random faults, from a seed, in a running study, and the checks after them.

A fault stops, ends or kills processes of the study while it runs: Snakemake, a job, a launcher, a rank, or all of
them; or it damages what an unfinished run left. After each fault the same command is called again, as a user
would.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conftest import Checkout, alive, wait_for
from faulted import CACHE
from scalestudy.chain.temporary import MARK

ENDING = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TARGETS = ("snakemake", "job", "launcher", "starter", "rank", "document", "everything")
LEAST_S, MOST_S = 0.5, 6.0
"""Seconds between two faults: a run takes about as long as Snakemake needs to start."""
KINDS = {
    "launcher": ("stage train",),
    "starter": ("scalestudy.launch.cold", "torch.distributed.run", "forked/client.py", "forked/supervisor"),
    "rank": ("-m replaying_rank", "-m scalestudy.train"),
    "document": ("stage aggregate", "stage numbers", "stage plot", "stage page", "stage tables", "stage text"),
}


@dataclass(frozen=True)
class Fault:
    """A fault: its kind, the number of processes, and its time since the call began."""

    kind: str
    signal: str
    at_s: float
    struck: int


@dataclass
class Chaos:
    """A study in a checkout, with the faults that struck it."""

    checkout: Checkout
    seed: int
    study: str = "tiny"
    temporary: Path | None = None
    faults: list[Fault] = field(default_factory=list)
    """All faults that struck something."""
    finished: dict[str, str] = field(default_factory=dict)
    """Checksums of finished runs when they were first seen."""
    calls: int = 0
    wrong: list[str] = field(default_factory=list)
    """Descriptions of violations; must stay empty."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    @property
    def results(self) -> Path:
        return self.checkout.root / "results" / self.study

    def strike(self) -> bool:
        """Call the study and inject faults at random moments until the call and all its processes have ended.

        Returns whether a fault struck anything: the call of a finished study ends before that.
        """
        before = len(self.faults)
        call = self.call()
        begin = time.monotonic()
        while call.poll() is None:
            at_s = time.monotonic() - begin + self.random.uniform(LEAST_S, MOST_S)
            kind, signum = self.random.choice(TARGETS), self.random.choice(ENDING)
            pause = self.random.random() < 0.2  # the process is stopped and continued
            struck: list[int] = []
            # If there is no such process at that moment, the next one is hit, as long as the call lasts.
            while call.poll() is None and not struck:
                if time.monotonic() - begin >= at_s:
                    struck = self.processes(kind, call.pid)
                    self.send(struck, signal.SIGSTOP if pause else signum)
                time.sleep(0.02)
            if pause and struck:
                time.sleep(self.random.uniform(0.2, 3.0))
                self.send(struck, signal.SIGCONT)
            if struck:
                said = "SIGSTOP, SIGCONT" if pause else signum.name
                self.faults.append(Fault(kind, said, round(time.monotonic() - begin, 1), len(struck)))
        self.wait_for_end(call)
        if self.random.random() < 0.2 and (left := sorted(self.results.glob("runs/.partial/*/*"))):
            self.damage(self.random.choice(left))
        self.look()
        return len(self.faults) > before

    def send(self, processes: list[int], signum: int) -> None:
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)

    def damage(self, path: Path) -> None:
        """Truncate a file that an unfinished run left."""
        if path.is_file():
            path.write_bytes(path.read_bytes()[: self.random.randrange(1 + path.stat().st_size // 2)])
            self.faults.append(Fault(f"{path.name} of an unfinished launch cut short", "", 0.0, 1))

    def call(self) -> subprocess.Popen[bytes]:
        """Start the command that a user would repeat; its output goes to a file."""
        self.calls += 1
        said = (self.checkout.root / "said.txt").open("ab")
        environment = self.checkout.environment
        if self.temporary:
            environment |= {"TMPDIR": str(self.temporary)}
        return subprocess.Popen(
            [environment["PATH"].split(os.pathsep)[0] + "/scalestudy", "run"],
            cwd=self.checkout.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )

    def finish(self) -> None:
        """Set failed runs aside, as the tool advises, and call the same command again."""
        self.checkout.run("scalestudy", "retry", f"results/{self.study}", check=False)
        call = self.call()
        code = call.wait()
        self.look()
        if code != 0:
            said = (self.checkout.root / "said.txt").read_text(errors="replace")
            self.wrong.append(f"the last call ended with {code}:\n{said[-3000:]}")

    def processes(self, kind: str, leader: int) -> list[int]:
        """Return the process ids of a kind of process, or of all processes of the session."""
        found = list(self.of_checkout())
        if kind == "snakemake":
            return [pid for pid, words in found if "/snakemake" in words and pid != leader][:1]
        if kind == "job":
            jobs = [pid for pid, words in found if "/bash -c" in words or "scalestudy stage" in words]
            return [self.random.choice(jobs)] if jobs else []
        if kind == "everything":
            return [pid for pid, _ in found]
        of_kind = [pid for pid, words in found if any(word in words for word in KINDS[kind])]
        return [self.random.choice(of_kind)] if of_kind else []

    def of_checkout(self) -> Iterator[tuple[int, str]]:
        """Return (process id, command line) of each process of this checkout."""
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended in the meantime
                words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                here = (path / "cwd").readlink() == self.checkout.root or str(self.checkout.root) in words
                if here and words and alive(int(path.name)) and int(path.name) != os.getpid():
                    yield int(path.name), words

    def wait_for_end(self, call: subprocess.Popen[bytes]) -> None:
        """Wait until the call has ended. A process of it that stays is a violation and is killed."""
        try:
            call.wait(timeout=240)
            wait_for(lambda: not list(self.of_checkout()), seconds=60)
        except (subprocess.TimeoutExpired, AssertionError):
            left = list(self.of_checkout())
            self.wrong.append(f"after {self.faults[-1:]} these did not end: {left}")
            for pid, _ in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            call.wait()

    def look(self) -> None:
        """Check that no finished run is lost, changed or measured again."""
        now = {path.parent.name: path.read_text() for path in self.results.glob("runs/*/run.json")}
        for run, content in self.finished.items():
            if now.get(run) != content:
                self.wrong.append(f"{run} was {'changed' if run in now else 'lost'} after {self.faults[-1:]}")
        failed = re.compile(r'^ "outcome": "(failed|preempted|timeout)"', re.M)
        self.finished |= {run: content for run, content in now.items() if not failed.search(content)}

    def left_over(self) -> list[str]:
        """Return processes, locks, unfinished runs and temporary files that exist although nothing runs."""
        left = [f"process {pid}: {words}" for pid, words in self.of_checkout()]
        left += [str(path) for path in self.results.glob("runs/.partial/*/*")]
        left += [str(path) for path in self.results.rglob(".*.[0-9]*")]
        left += [str(path) for path in (self.checkout.root / ".snakemake/locks").glob("*")]
        if self.temporary:
            # torch's compiled code is for the next run. Snakemake makes a folder before it reads our rules.
            known = (CACHE, "snakemake")
            left += [str(path) for path in self.temporary.iterdir() if not path.name.startswith(known)]
            left += [str(path) for path in self.temporary.glob(f"snakemake*/{MARK}")]
        return left
