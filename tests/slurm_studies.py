"""Studies that are submitted to the test cluster, and what the tests ask of them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, Checkout, make_checkout
from scalestudy.record.observation import RunRecord, read_record
from scalestudy.study.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from slurm_cluster import Cluster, missing_programs

INSTALL = "apt-get install slurmctld slurmd slurm-client munge"
# A job is over when it is over: what waits for real clusters would only make the tests slow.
QUICK = ("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster, up for all tests of a session; skipped where SLURM is not installed."""
    missing = missing_programs()
    if missing:
        reason = f"no SLURM here ({', '.join(missing)} not found); on Debian: {INSTALL}"
        # Where the tests must run, as in CI, it is an error.
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
    """A checkout whose commands see the cluster."""

    cluster: Cluster

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(BIN), self.cluster.environment()["PATH"]])
        return super().environment | self.cluster.environment() | {"PATH": path}

    def submit(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`snakemake --profile slurm`, to its end."""
        return self.run("snakemake", "--profile", "slurm", *QUICK, *arguments, check=check)

    def run_in_cluster(self, *command: str) -> str:
        """Output of a command of SLURM that hands on this checkout's environment, as sbatch does."""
        done = subprocess.run(command, env=self.environment, cwd=self.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def plan(self) -> Plan:
        """The plan of the checkout's study."""
        import yaml

        content = yaml.safe_load((self.root / "config/config.yaml").read_text())
        return make_plan(parse_study(content, source="x"))

    @property
    def results(self) -> Path:
        return self.root / "results" / self.plan().study.study

    def records(self) -> dict[str, RunRecord]:
        """Records of the runs that are there."""
        return {path.parent.name: read_record(path.parent) for path in self.results.glob("runs/*/run.json")}

    def partial(self, pattern: str) -> list[Path]:
        """Files that launches which are under way have left."""
        return list(self.results.glob(f"runs/.partial/*/{pattern}"))


@pytest.fixture
def submitting(cluster: Cluster, tmp_path: Path) -> Iterator[Submitting]:
    """A fresh checkout that submits to the cluster; afterwards nothing of it may be left in the queue."""
    yield Submitting(make_checkout(tmp_path / "checkout").root, cluster)
    wait_for(lambda: not cluster.jobs(), seconds=60)


def small_study(**changes: Any) -> dict[str, Any]:
    """One workload on one process and on two ranks of one node, a launch each."""
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


def wait_for(condition: Callable[[], Any], *, seconds: float = 90) -> None:
    """Until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
