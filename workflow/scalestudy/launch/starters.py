"""Starters of a run: on this host, in the SLURM job that this process is part of, or on a list of hosts.

In the latter two cases every node runs launch/nodes/node.py, which checks the node and becomes torchrun.
"""

import datetime
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.command import launch_environment, rank_command, rank_environment, starter_environment
from scalestudy.launch.guards.host import Guard, look
from scalestudy.launch.nodes.arrivals import read_nodes, starter_command
from scalestudy.launch.nodes.hosts import HOSTS, parse_hosts
from scalestudy.launch.slurm.job import (
    CONTROLLER_S,
    Job,
    NoControllerError,
    end_step,
    job_id,
    node_address,
    read_job,
    step_command,
    what_became,
)
from scalestudy.record.host.environment import NODE
from scalestudy.record.observation import Outcome
from scalestudy.study.limits import WRITING_S, Limits
from scalestudy.study.spec import RunSpec

LEAST_S = 60
"""Fewest remaining seconds of an allocation in which a run is started, without those for writing its record."""
LAST_QUESTION_S = 5
"""Time limit of a query to SLURM while it ends the job: the record must be written before SLURM sends SIGKILL."""


class Starter:
    """The place that a run is started in. This base class is for this host without a scheduler."""

    remote = False
    """Whether nodes are started remotely (launch/nodes/node.py), where each reports that it came up."""
    nodes = 1
    """Number of available nodes."""

    def refuse(self, spec: RunSpec) -> str | None:
        """Why the run cannot be started here, and what to do; None where it can."""
        if spec.nodes == 1:
            return None
        return (
            f"{spec.nodes} nodes are planned, but only this host is available; use a scale 1xDEVICES, run inside a"
            f" SLURM job, or list the hosts in {HOSTS}"
        )

    def look(self, spec: RunSpec, environment: Mapping[str, str]) -> Guard | None:
        """The state of the host just before the run; None where every node checks itself."""
        return None if self.remote else look(spec, environment)

    def environment(self, spec: RunSpec, directory: Path) -> dict[str, str]:
        """The environment of the ranks, or of the process that starts them. directory: of the run."""
        return starter_environment(spec) if self.remote else launch_environment(spec, directory)

    def limits(self, asked: Limits) -> Limits:
        """The given limits, shortened to the remaining allocation. Raises UserError where too little is left."""
        return asked

    def held_devices(self, spec: RunSpec) -> int | None:
        """Devices that a scheduler has allocated for the run, including idle ones; None without a scheduler."""
        return None

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        """The command that starts all processes, and ends when they have ended."""
        return rank_command(spec, directory, data, stall_limit_s=limits.stall_limit_s)

    def ender(self, directory: Path) -> Callable[[str], None] | None:
        """A function that sends TERM or KILL to processes that are not our children; None where there are none."""
        return None

    def took(self, signum: int, steps: int) -> tuple[Outcome, str] | None:
        """(outcome, reason) where the signal to end came from a scheduler; None where it came from the user."""
        return None


class Hosts(Starter):
    """Hosts that share a file system with this one and that can be reached without a password.

    No ender is needed: the process that connects to the hosts (launch/nodes/hosts.py) is our child. When it ends,
    every connection closes, and that ends the ranks.
    """

    remote = True

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._hosts, self.nodes = hosts, len(hosts)

    def refuse(self, spec: RunSpec) -> str | None:
        if spec.nodes <= self.nodes:
            return None
        return f"{spec.nodes} nodes are planned, but {HOSTS} lists only {self.nodes}: {', '.join(self._hosts)}"

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        hosts = self._hosts[: spec.nodes]
        address = hosts[0].rsplit("@", 1)[-1] if spec.nodes > 1 else None
        starter = starter_command(directory, data, limits, address=address)
        return [sys.executable, "-m", "scalestudy.launch.nodes.hosts", "--hosts", *hosts, "--", *starter]


class Slurm(Starter):
    """The job that this process is part of: one step, with one starter per node, which becomes torchrun."""

    remote = True

    def __init__(self, job: Job) -> None:
        self._job, self.nodes = job, len(job.nodes)

    def refuse(self, spec: RunSpec) -> str | None:
        """Refuse a run that needs more nodes than the job has; it is never placed on fewer nodes."""
        if spec.nodes <= self.nodes:
            return None
        return (
            f"{spec.nodes} nodes are planned, but SLURM job {self._job.id} has only {self.nodes}"
            f" ({', '.join(self._job.nodes)}); request {spec.nodes} (nodes, tasks and mpi of the rule)"
        )

    def limits(self, asked: Limits) -> Limits:
        """A run ends before its allocation does, so that its measurements are kept."""
        left_s = self._job.left_s(datetime.datetime.now())
        if left_s is not None and left_s < WRITING_S + LEAST_S:
            raise UserError(
                f"SLURM job {self._job.id} has {max(0, left_s):.0f} s left, too little for another run; the next"
                " `snakemake` measures it"
            )
        return asked.within(left_s, of=f"SLURM job {self._job.id}")

    def held_devices(self, spec: RunSpec) -> int | None:
        return self._job.held_devices(spec)

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        nodes = self._job.nodes[: spec.nodes]
        address = node_address(nodes[0]) if spec.nodes > 1 else None
        return [*step_command(spec, self._job, nodes), *starter_command(directory, data, limits, address=address)]

    def ender(self, directory: Path) -> Callable[[str], None] | None:
        """Send signals to the step, since its processes are children of SLURM's daemons."""

        def end(signum: str) -> None:
            for step in {node["step"] for node in read_nodes(directory) if node["step"]}:
                end_step(self._job.id, step, signum)

        return end

    def took(self, signum: int, steps: int) -> tuple[Outcome, str] | None:
        """SLURM ends a job by SIGTERM. After Ctrl-C inside an allocation nothing is recorded."""
        if signum != signal.SIGTERM:
            return None
        try:
            return what_became(read_job(self._job.id, limit_s=LAST_QUESTION_S), steps)
        except NoControllerError as error:
            return "preempted", f"SLURM job {self._job.id} received SIGTERM after {steps} steps; {error}"


class SlurmForked(Slurm):
    """The same job, for forked ranks: they are children of the job's own script, not of a step.

    SLURM ends all processes of a step when it is over, so a parent that was started in a step could not serve the
    next run. All devices of the job are visible to forked ranks; they use the first ones, as without SLURM.
    """

    remote = False

    def environment(self, spec: RunSpec, directory: Path) -> dict[str, str]:
        return rank_environment(spec) | {NODE: self._job.nodes[0]}

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        return Starter.command(self, spec, directory, data, limits)

    def ender(self, directory: Path) -> None:
        return None


def make_starter(environment: Mapping[str, str] = os.environ, *, forks: bool = False) -> Starter:
    """The starter for the listed hosts, if there are any; else for this process's SLURM job; else for this host.

    forks: whether the ranks are forked from a parent that has imported torch. Raises UserError for a bad list, and
    NoControllerError where SLURM's controller does not answer within CONTROLLER_S.
    """
    if environment.get(HOSTS, "").strip():
        return Hosts(parse_hosts(environment[HOSTS]))
    if not (job := job_id(environment)):
        return Starter()
    return (SlurmForked if forks else Slurm)(read_job(job, wait_s=CONTROLLER_S))


def host_lock() -> Path:
    """The file of the lock for this host's devices. Two measurements of one user never overlap.

    In a SLURM job the lock is for that job alone: the allocation separates jobs, and a node may run several.
    """
    job = job_id(os.environ)
    name = f"scalestudy-{os.getuid()}{f'-job{job}' if job else ''}.lock"
    return Path(tempfile.gettempdir()) / name
