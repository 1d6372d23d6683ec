"""Where a launch is started: on this host, in the SLURM job we are part of, or over a list of hosts.

Elsewhere than on this host every node runs launch/nodes/node.py, which looks at it and becomes torchrun.
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
"""Seconds of an allocation that are worth starting a launch in, beyond those for its record."""
LAST_QUESTION_S = 5
"""Limit of a question to SLURM while it ends the job: what was measured has to be written before it kills."""


class Starter:
    """What a launch asks of the place it is made in. This one is this host, and nobody else's scheduler."""

    remote = False
    """Whether the nodes are started from outside (launch/nodes/node.py), each to say that it came up."""
    nodes = 1
    """Nodes on offer."""

    def refuse(self, spec: RunSpec) -> str | None:
        """Why this place cannot hold the run, and what could; None where it can."""
        if spec.nodes == 1:
            return None
        return (
            f"{spec.nodes} nodes are planned, and there is this host alone; use a scale 1xDEVICES, run it inside a"
            f" SLURM job, or name the hosts in {HOSTS}"
        )

    def look(self, spec: RunSpec, environment: Mapping[str, str]) -> Guard | None:
        """The host just before the launch; None where every node looks at itself and leaves what it saw."""
        return None if self.remote else look(spec, environment)

    def environment(self, spec: RunSpec, directory: Path) -> dict[str, str]:
        """The environment of the ranks, or of what starts them. directory: of the launch."""
        return starter_environment(spec) if self.remote else launch_environment(spec, directory)

    def limits(self, asked: Limits) -> Limits:
        """What is left of the asked limits. Raises UserError where that is nothing."""
        return asked

    def held_devices(self, spec: RunSpec) -> int | None:
        """Devices that a scheduler holds for the launch, idle ones included; None without one."""
        return None

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        """The one command that starts all processes, and ends when they have ended."""
        return rank_command(spec, directory, data, stall_limit_s=limits.stall_limit_s)

    def ender(self, directory: Path) -> Callable[[str], None] | None:
        """A function that sends TERM or KILL to processes that are no children of ours."""
        return None

    def took(self, signum: int, steps: int) -> tuple[Outcome, str] | None:
        """(outcome, reason) where it was a scheduler that told us to end; None where it was our user."""
        return None


class Hosts(Starter):
    """Hosts that share a file system with this one and let us in without a password.

    No ender: the fan-out (launch/nodes/hosts.py) is our child, its end closes every connection, and that ends the
    ranks.
    """

    remote = True

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._hosts, self.nodes = hosts, len(hosts)

    def refuse(self, spec: RunSpec) -> str | None:
        if spec.nodes <= self.nodes:
            return None
        return f"{spec.nodes} nodes are planned, and {HOSTS} names {self.nodes}: {', '.join(self._hosts)}"

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        hosts = self._hosts[: spec.nodes]
        address = hosts[0].rsplit("@", 1)[-1] if spec.nodes > 1 else None
        starter = starter_command(directory, data, limits, address=address)
        return [sys.executable, "-m", "scalestudy.launch.nodes.hosts", "--hosts", *hosts, "--", *starter]


class Slurm(Starter):
    """The job that this process is part of: one step, one starter a node, one torchrun in each."""

    remote = True

    def __init__(self, job: Job) -> None:
        self._job, self.nodes = job, len(job.nodes)

    def refuse(self, spec: RunSpec) -> str | None:
        """More nodes than the job has are never squeezed onto fewer."""
        if spec.nodes <= self.nodes:
            return None
        return (
            f"{spec.nodes} nodes are planned, and SLURM job {self._job.id} has {self.nodes}"
            f" ({', '.join(self._job.nodes)}); ask for as many (nodes, tasks and mpi of the rule)"
        )

    def limits(self, asked: Limits) -> Limits:
        """A launch ends before its allocation does, so that what it has measured is kept."""
        left_s = self._job.left_s(datetime.datetime.now())
        if left_s is not None and left_s < WRITING_S + LEAST_S:
            raise UserError(
                f"SLURM job {self._job.id} has {max(0, left_s):.0f} s left, too few for another launch; the next"
                " `snakemake` makes it"
            )
        return asked.within(left_s, of=f"SLURM job {self._job.id}")

    def held_devices(self, spec: RunSpec) -> int | None:
        return self._job.held_devices(spec)

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        nodes = self._job.nodes[: spec.nodes]
        address = node_address(nodes[0]) if spec.nodes > 1 else None
        return [*step_command(spec, self._job, nodes), *starter_command(directory, data, limits, address=address)]

    def ender(self, directory: Path) -> Callable[[str], None] | None:
        """Signals go to the step: its processes are children of SLURM's daemons."""

        def end(signum: str) -> None:
            for step in {node["step"] for node in read_nodes(directory) if node["step"]}:
                end_step(self._job.id, step, signum)

        return end

    def took(self, signum: int, steps: int) -> tuple[Outcome, str] | None:
        """SIGTERM is how SLURM ends a job; whoever presses Ctrl-C inside an allocation wants nothing recorded."""
        if signum != signal.SIGTERM:
            return None
        try:
            return what_became(read_job(self._job.id, limit_s=LAST_QUESTION_S), steps)
        except NoControllerError as error:
            return "preempted", f"SLURM job {self._job.id} was told to end after {steps} steps; {error}"


class SlurmForked(Slurm):
    """The same job, for launches that are forked: their ranks are children of the job's own script.

    SLURM ends what a step leaves behind, so that a parent started by one could not serve the next launch. All
    devices of the job are visible to such ranks; they take the first ones, as on a host without SLURM.
    """

    remote = False

    def environment(self, spec: RunSpec, directory: Path) -> dict[str, str]:
        return rank_environment(spec) | {NODE: self._job.nodes[0]}

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        return Starter.command(self, spec, directory, data, limits)

    def ender(self, directory: Path) -> None:
        return None


def make_starter(environment: Mapping[str, str] = os.environ, *, forks: bool = False) -> Starter:
    """A list of hosts, where one is given; else the SLURM job we are in; else this host.

    Raises UserError; NoControllerError where SLURM's controller is away for longer than CONTROLLER_S.
    forks: whether the ranks are forked from a parent that has imported torch.
    """
    if environment.get(HOSTS, "").strip():
        return Hosts(parse_hosts(environment[HOSTS]))
    if not (job := job_id(environment)):
        return Starter()
    return (SlurmForked if forks else Slurm)(read_job(job, wait_s=CONTROLLER_S))


def host_lock() -> Path:
    """The lock of this host's devices. Two measurements of one user never overlap, whoever started them.

    Inside a SLURM job the allocation separates jobs already, and a node may well hold several.
    """
    job = job_id(os.environ)
    name = f"scalestudy-{os.getuid()}{f'-job{job}' if job else ''}.lock"
    return Path(tempfile.gettempdir()) / name
