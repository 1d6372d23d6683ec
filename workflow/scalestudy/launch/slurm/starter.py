"""A launch inside a SLURM job: one step, one starter a node (launch/nodes/node.py), one torchrun in each."""

from __future__ import annotations

import datetime
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.guards.host import Guard
from scalestudy.launch.nodes.arrivals import read_nodes, starter_command
from scalestudy.launch.nodes.ports import free_port
from scalestudy.launch.slurm.job import Job, end_step, node_address, read_job, what_became
from scalestudy.record.observation import Outcome
from scalestudy.study.limits import WRITING_S, Limits
from scalestudy.study.spec import RunSpec

LEAST_S = 60
"""Seconds of an allocation that are worth starting a launch in, beyond those for its record."""


class Slurm:
    """The job that this process is part of."""

    remote = True

    def __init__(self, job: Job) -> None:
        self._job = job

    @property
    def nodes(self) -> int:
        return len(self._job.nodes)

    def refuse(self, spec: RunSpec) -> str | None:
        """More nodes than the job has are never squeezed onto fewer."""
        have = len(self._job.nodes)
        if spec.nodes <= have:
            return None
        return (
            f"{spec.nodes} nodes are planned, and SLURM job {self._job.id} has {have}"
            f" ({', '.join(self._job.nodes)}); ask for as many (nodes, tasks and mpi of the rule)"
        )

    def look(self, spec: RunSpec, environment: Mapping[str, str]) -> Guard | None:
        return None

    def limits(self, asked: Limits) -> Limits:
        """A launch ends before its allocation does, so that what it has measured is kept."""
        left_s = self._job.left_s(datetime.datetime.now())
        if left_s is not None and left_s < WRITING_S + LEAST_S:
            raise UserError(
                f"SLURM job {self._job.id} has {max(0, left_s):.0f} s left, too few for another launch; the next"
                " `snakemake` makes it"
            )
        return asked.within(left_s, of=f"SLURM job {self._job.id}")

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        nodes = self._job.nodes[: spec.nodes]
        address = node_address(nodes[0]) if spec.nodes > 1 else None
        starter = starter_command(directory, data, limits, meet=address and f"{address}:{free_port()}")
        return [*step_command(spec, self._job, nodes), *starter]

    def ender(self, directory: Path) -> Callable[[str], None]:
        """Signals go to the step: its processes are children of SLURM's daemons."""

        def end(signum: str) -> None:
            for step in {node["step"] for node in read_nodes(directory) if node["step"]}:
                end_step(self._job.id, step, signum)

        return end

    def took(self, signum: int, steps: int) -> tuple[Outcome, str] | None:
        """SIGTERM is how SLURM ends a job; whoever presses Ctrl-C inside an allocation wants nothing recorded."""
        if signum != signal.SIGTERM:
            return None
        return what_became(read_job(self._job.id), steps)


def step_command(spec: RunSpec, job: Job, nodes: tuple[str, ...]) -> list[str]:
    """The srun line of a launch: exactly one task a node, each with the cores and devices of its ranks."""
    cores = spec.devices_per_node * spec.host.cores_per_rank
    gpus = job.has_gpus and spec.host.device != "cpu"
    return [
        "srun",
        f"--jobid={job.id}",
        f"--job-name={spec.run_id}",
        f"--nodes={len(nodes)}",
        f"--nodelist={','.join(nodes)}",
        f"--ntasks={len(nodes)}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={cores}",
        *([f"--gpus-per-node={spec.devices_per_node}"] if gpus else []),
        "--kill-on-bad-exit=1",
        "--export=ALL",
        "--input=none",
    ]
