"""Studies and checkouts that tests share. All are small and real; no measurement is simulated here."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from scalestudy.record.lock import exclusive
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

pytest_plugins = ["browser", "axe", "slurm_studies", "wheels"]

# Parallel tests do not wait for each other's runs: the lock of a host is in the temporary folder.
if "PYTEST_XDIST_WORKER" in os.environ:
    tempfile.tempdir = tempfile.mkdtemp(prefix=f"scalestudy-{os.environ['PYTEST_XDIST_WORKER']}-")
    os.environ["TMPDIR"] = tempfile.tempdir
    Path(tempfile.tempdir).chmod(0o755)  # munged rejects a socket in a folder that others cannot access
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)

# As in a process started by a shell: under nohup, or in the background of a script, some would be ignored.
HANDLERS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent

# The parts of a checkout, without results, environments and caches.
CHECKOUT = ("Snakefile", "workflow", "rules", "config", "profiles", "report", "slurm", "docs/glossary.md")


def mlp_workload(**changes: Any) -> dict[str, Any]:
    """A small network on scikit-learn's digits, strong and weak scaling."""
    return {
        "model": {"type": "mlp", "hidden_dim": 16, "num_layers": 1},
        "data": {"type": "digits"},
        "optimizer": {"type": "sgd", "learning_rate": 0.05},
        "batch_size": 32,
        "epochs": 2,
        "scaling": ["strong", "weak"],
    } | changes


def small_content(**changes: Any) -> dict[str, Any]:
    """A small study as a user would write it: one workload, strong and weak scaling, 1 and 2 ranks."""
    return {
        "study": "small",
        "seed": 7,
        "repeats": 2,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"mlp": mlp_workload()},
    } | changes


def until_decided(name: str, **measure: Any) -> dict[str, Any]:
    """A study of one workload on forks: three repeats, and a fourth for points whose verdict is inconclusive."""
    return small_content(
        study=name,
        seed=1,
        repeats=3,
        max_repeats=4,
        time_limit_min=2,
        workloads={"first": mlp_workload(scaling=["strong"])},
        host={"device": "cpu", "start": "fork"},
        measure={"probe_rounds": 0, "replace_spoiled": False} | measure,  # other processes may run too
        # At 51 % and two looks, a ratio of three runs is known to 99 % as long as the standard deviation of its
        # logarithm is below 0.74. With four other busy processes it is 0.22.
        report={"confidence": 0.51, "overhead_reference": False},
    )


@pytest.fixture
def content() -> dict[str, Any]:
    return small_content()


def tiny_study() -> dict[str, Any]:
    """A study of two workloads with one repeat: 4 runs of one or two seconds."""
    workload = mlp_workload()
    del workload["scaling"]
    return {
        "study": "tiny",
        "seed": 3,
        "repeats": 1,
        "time_limit_min": 2,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"first": workload, "second": deepcopy(workload) | {"epochs": 3}},
        "host": {"device": "cpu"},
        "report": {"overhead_reference": False},
    }


def finished_study() -> dict[str, Any]:
    """The tiny study on forks and with few probes: what its documents say takes half of the time to measure."""
    return tiny_study() | {
        "host": {"device": "cpu", "start": "fork"},
        "measure": {"probe_rounds": 2, "probe_steps": 5},
    }


@dataclass(frozen=True)
class Checkout:
    """A copy of the project that a test may edit and run."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which the copy's package precedes the installed one."""
        path = os.pathsep.join([str(BIN), os.environ["PATH"]])
        return os.environ | {"PYTHONPATH": str(self.root / "workflow"), "PATH": path}

    def run(
        self, *command: str, check: bool = True, at: Path | None = None, before: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment in the checkout, or in another folder; stdout and stderr are merged.

        before: another command, to which this one is passed.
        """
        result = subprocess.run(
            [*before, str(BIN / command[0]), *command[1:]],
            cwd=at or self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if check:
            assert result.returncode == 0, f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}"
        return result

    def start(self, *command: str) -> subprocess.Popen:
        """Start a command of the environment in a session of its own, to be watched or killed."""
        silent = subprocess.DEVNULL
        arguments = [str(BIN / command[0]), *command[1:]]
        return subprocess.Popen(
            arguments,
            cwd=self.root,
            env=self.environment,
            stdin=silent,
            stdout=silent,
            stderr=silent,
            start_new_session=True,
        )

    def configure(self, study: dict[str, Any]) -> None:
        """Write the default study."""
        (self.root / "config/config.yaml").write_text(yaml.safe_dump(study, sort_keys=False))

    def plan(self) -> Plan:
        """Return the plan of the default study."""
        content = yaml.safe_load((self.root / "config/config.yaml").read_text())
        return make_plan(parse_study(content, source="x"))

    def trainers(self) -> list[Path]:
        """Return the /proc folders of this checkout's torchruns and ranks, also of other hosts."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # it has ended in the meantime
                words = path.read_bytes().split(b"\0")
                here = (path.parent / "cwd").readlink() == self.root or str(self.root).encode() in b" ".join(words)
                if b"scalestudy.train" in words and here:
                    found.append(path.parent)
        return found

    def copy_to(self, target: Path) -> Checkout:
        """Copy the checkout with its results and Snakemake's metadata, preserving file times."""
        # Files that another process may write during the copy: locks and logs of its dry runs.
        passing = shutil.ignore_patterns("locks", "log")
        shutil.copytree(self.root, target, symlinks=True, ignore=passing)
        return Checkout(target)


def alive(pid: int) -> bool:
    """Return whether a process runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # the second where it ends between the opening and the reading
        return False
    return state != "Z"


def wait_for(condition: Callable[[], Any], seconds: float = 180) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def planned(output: str) -> dict[str, int]:
    """Return the jobs per rule of a dry run; empty if there is nothing to do."""
    if "Nothing to be done" in output:
        return {}
    table = output.split("Job stats:", 1)[1].split("\n\n", 1)[0]
    rows = re.findall(r"^(\w+) +(\d+)$", table, flags=re.M)
    return {name: int(count) for name, count in rows if name != "total"}


@pytest.fixture(autouse=True)
def handlers_as_at_first() -> None:
    """Reset ignored signals, which processes started by a test would inherit from earlier tests and fixtures."""
    for signum, handler in HANDLERS.items():
        signal.signal(signum, handler)


@pytest.fixture(autouse=True)
def figures_closed() -> Iterator[None]:
    """Close the figures that a test drew and did not save; saving closes a figure."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@contextlib.contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore the signal handlers that a run sets, since processes of later tests would inherit them."""
    before = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def make_checkout(target: Path) -> Checkout:
    """Return a function that makes a new checkout with the tiny study as its default."""
    target.mkdir(parents=True)
    for name in CHECKOUT:
        source = ROOT / name
        if source.is_symlink():
            (target / name).symlink_to(source.readlink())
        elif source.is_dir():
            # Compiled files are copied, so that no checkout compiles, except those that are being written.
            ignore = shutil.ignore_patterns("*.egg-info", "*.pyc.*")
            shutil.copytree(source, target / name, ignore=ignore)
        else:
            (target / name).parent.mkdir(exist_ok=True)
            shutil.copy2(source, target / name)
    checkout = Checkout(target)
    checkout.configure(tiny_study())
    return checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A new checkout in which nothing has been run."""
    return make_checkout(tmp_path / "checkout")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which `finished_study` was completed. Do not change it; `edited` is a copy to change.

    The study is run only once, even if several processes share the tests: the first one runs it, the others wait.
    """
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    root, done = folder / "finished" / "checkout", folder / "finished" / "done"
    with exclusive(folder / "finished.lock", waiting=lambda: None):
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            made = make_checkout(root)
            made.configure(finished_study())
            made.run("snakemake")
            done.touch()
    return Checkout(root)


@pytest.fixture
def edited(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the finished checkout, to edit."""
    return finished.copy_to(tmp_path / "edited")
