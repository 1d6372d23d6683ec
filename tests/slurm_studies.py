"""Studies that are submitted to the test cluster, and helpers of their tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, Checkout, make_checkout, wait_for
from scalestudy.record.observation import RunRecord, read_record
from slurm_cluster import Cluster, missing_programs

INSTALL = "apt-get install slurmctld slurmd slurm-client munge"
# Jobs end immediately: the waiting times for real clusters would only make the tests slow.
QUICK = ("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster, for all tests of a session; skipped if SLURM is not installed."""
    missing = missing_programs()
    if missing:
        reason = f"no SLURM here ({', '.join(missing)} not found); on Debian: {INSTALL}"
        # If the tests must run, as in CI, this is an error.
        assert "SCALESTUDY_NEED_SLURM" not in os.environ, reason
        pytest.skip(reason)
    made = Cluster()
    try:
        made.start()
        yield made
    finally:
        made.stop()


@dataclass(frozen=True)
class Submitting(Checkout):
    """A checkout whose commands use the cluster."""

    cluster: Cluster
    drivers: list[Driver] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.root / "broken"), str(BIN), self.cluster.environment()["PATH"]])
        return super().environment | self.cluster.environment() | {"PATH": path}

    def submit(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `snakemake --profile slurm` until it ends."""
        return self.run("snakemake", "--profile", "slurm", *QUICK, *arguments, check=check)

    def drive(self, *arguments: str) -> Driver:
        """Start `snakemake --profile slurm`."""
        return Driver(self, "snakemake", "--profile", "slurm", *QUICK, *arguments)

    def break_command(self, name: str, how: str) -> Path:
        """Return a file; while it exists, a command of SLURM is replaced by a shell line, such as `exit 1`.

        REAL is the command itself. This affects the driver that is started from this checkout, and its jobs.
        """
        broken, wrapper = self.root / f"{name}-is-broken", self.root / "broken" / name
        real = shutil.which(name, path=self.cluster.environment()["PATH"])
        wrapper.parent.mkdir(exist_ok=True)
        wrapper.write_text(
            f'#!/bin/sh\n[ -e {broken} ] && {{ {how.replace("REAL", str(real))}; }}\nexec {real} "$@"\n'
        )
        wrapper.chmod(0o755)
        return broken

    def run_in_cluster(self, *command: str) -> str:
        """Return the output of a SLURM command that passes on this checkout's environment, as sbatch does."""
        done = subprocess.run(command, env=self.environment, cwd=self.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def results(self) -> Path:
        return self.root / "results" / self.plan().study.name

    def records(self) -> dict[str, RunRecord]:
        """Return the records of the existing runs."""
        return {path.parent.name: read_record(path.parent) for path in self.results.glob("runs/*/run.json")}

    def partial(self, pattern: str) -> list[Path]:
        """Return the files of unfinished runs."""
        return list(self.results.glob(f"runs/.partial/*/{pattern}"))


class Driver:
    """A command that submits, in a session of its own, with its output so far."""

    def __init__(self, submitting: Submitting, *command: str) -> None:
        self._submitting = submitting
        submitting.drivers.append(self)
        self._said = submitting.root / f"driver-{len(list(submitting.root.glob('driver-*')))}.txt"
        with self._said.open("wb") as output:
            self.process = subprocess.Popen(
                [str(BIN / command[0]), *command[1:]],
                cwd=submitting.root,
                env=submitting.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """Standard output and error."""
        return self._said.read_text(errors="replace")

    def wait_until_it_says(self, words: str, seconds: float = 120) -> None:
        """Wait until these words are in its output."""
        end = time.monotonic() + seconds
        while words not in self.said:
            assert time.monotonic() < end and self.process.poll() is None, f"never said {words!r}:\n{self.said}"
            time.sleep(0.1)

    def end(self, seconds: float = 600) -> int:
        """Return its exit code, once it has ended and the queue is empty."""
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"has not ended after {seconds} s:\n{self.said}") from None
        wait_for(lambda: not self._submitting.cluster.jobs(), seconds=120)
        return code

    def kill(self, signum: signal.Signals = signal.SIGKILL) -> None:
        """Stop it, and what it started on this host, if it still runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signum)
            self.process.wait()


@pytest.fixture
def submitting(cluster: Cluster, tmp_path: Path) -> Iterator[Submitting]:
    """A new checkout that submits to the cluster; afterwards none of its jobs may be left in the queue."""
    made = Submitting(make_checkout(tmp_path / "checkout").root, cluster)
    yield made
    for driver in made.drivers:
        driver.kill()
    try:
        wait_for(lambda: not cluster.jobs(), seconds=60)
    except AssertionError:
        cluster.run("scancel", "--partition=main")  # so that the next test does not find them
        raise


def small_study(**changes: Any) -> dict[str, Any]:
    """One workload on one process and on two ranks of one node, with one repeat."""
    workload = {
        "model": {"type": "mlp", "hidden_dim": 16, "num_layers": 1},
        "data": {"type": "digits"},
        "optimizer": {"type": "sgd", "learning_rate": 0.05},
        "batch_size": 32,
        "epochs": changes.pop("epochs", 2),
    }
    study = {
        "study": "small",
        "seed": 3,
        "repeats": 1,
        "time_limit_min": 3,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"mlp": workload},
        "host": {"device": "cpu"},
        "measure": {"probe_rounds": 0},
        "report": {"overhead_reference": False},
    }
    return study | changes


ENDLESS = 50_000


class Launch:
    """A run in progress of a study of its own, in a job of Snakemake or of the test.

    Snakemake checks its jobs at increasing intervals, so the behaviour of the launcher alone is tested without it.
    """

    def __init__(self, submitting: Submitting, *snakemake: str, sbatch: str | None = None, **study: Any) -> None:
        """snakemake: its options. sbatch: options of a job without it. study: changes of the small study."""
        self.submitting = submitting
        submitting.configure(small_study(**study))
        self.run_id = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "ddp")
        if sbatch is None:
            target = f"results/small/runs/{self.run_id}/run.sha256"
            self.process = submitting.start("snakemake", "--profile", "slurm", *QUICK, *snakemake, "--", target)
        else:
            train = f"{BIN}/scalestudy stage train --run {self.run_id}"
            options = [
                "--cpus-per-task=2",
                "--mem=8000",
                "--output=job.log",
                f"--chdir={submitting.root}",
                *sbatch.split(),
            ]
            submitting.run_in_cluster("sbatch", *options, f"--wrap={train}")

    def wait_until_it_trains(self) -> None:
        """Wait until it trains."""
        wait_for(lambda: self.submitting.partial("progress.json"), seconds=180)

    @property
    def job(self) -> str:
        (line,) = self.submitting.cluster.jobs()
        return line.split()[0]

    def ranks(self) -> dict[int, int]:
        """Return the process ids of the ranks."""
        found = {}
        for process in self.submitting.trainers():
            with contextlib.suppress(OSError):  # it has ended in the meantime
                environment = (process / "environ").read_bytes().split(b"\0")
                for told in environment:
                    if told.startswith(b"RANK="):  # processes that watch the ranks have no rank
                        found[int(told.removeprefix(b"RANK="))] = int(process.name)
        return found

    def end(self) -> int:
        """Return Snakemake's exit code, 0 without Snakemake, once the queue is empty and nothing runs."""
        code = self.process.wait(timeout=240) if hasattr(self, "process") else 0
        wait_for(lambda: not self.submitting.cluster.jobs(), seconds=120)
        wait_for(lambda: not self.submitting.partial("*") and not self.ranks(), seconds=60)
        return code

    def record(self) -> RunRecord:
        """Return the record."""
        return self.submitting.records()[self.run_id]


@pytest.fixture
def controller(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster, whose controller is started again at the end of the test."""
    yield cluster
    if not cluster.controlled:
        cluster.start_controller()
    wait_for(lambda: cluster.states() == ["idle", "idle"], seconds=120)


@pytest.fixture
def both_nodes(submitting: Submitting) -> Iterator[None]:
    """Both nodes, which are started again at the end of the test."""
    yield
    for node in ("node1", "node2"):
        submitting.cluster.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)
    wait_for(lambda: submitting.cluster.states() == ["idle", "idle"], seconds=90)
