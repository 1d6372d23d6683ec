"""Where a launch is started: on this host, in the SLURM job we are part of, or over a list of hosts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from scalestudy.launch.command import rank_command
from scalestudy.launch.guards.host import Guard, look
from scalestudy.launch.nodes.hosts import HOSTS, Hosts, parse_hosts
from scalestudy.launch.slurm.job import job_id, read_job
from scalestudy.launch.slurm.starter import Slurm
from scalestudy.record.observation import Outcome
from scalestudy.study.limits import Limits
from scalestudy.study.spec import RunSpec


class Starter(Protocol):
    """What a launch asks of the place it is made in."""

    remote: bool
    """Whether the nodes are started from outside (launch/nodes/node.py), each to say that it came up."""

    @property
    def nodes(self) -> int:
        """Nodes on offer."""

    def refuse(self, spec: RunSpec) -> str | None:
        """Why this place cannot hold the run, and what could; None where it can."""

    def look(self, spec: RunSpec, environment: Mapping[str, str]) -> Guard | None:
        """The host just before the launch; None where every node looks at itself and leaves what it saw."""

    def limits(self, asked: Limits) -> Limits:
        """What is left of the asked limits. Raises UserError where that is nothing."""

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        """The one command that starts all processes, and ends when they have ended."""

    def ender(self, directory: Path) -> Callable[[str], None] | None:
        """A function that sends TERM or KILL to processes that are no children of ours."""

    def took(self, signum: int, steps: int) -> tuple[Outcome, str] | None:
        """(outcome, reason) where it was a scheduler that told us to end; None where it was our user."""


class Here:
    """This host, and nobody else's scheduler."""

    remote, nodes = False, 1

    def refuse(self, spec: RunSpec) -> str | None:
        if spec.nodes == 1:
            return None
        return (
            f"{spec.nodes} nodes are planned, and there is this host alone; use a scale 1xDEVICES, run it inside a"
            f" SLURM job, or name the hosts in {HOSTS}"
        )

    def look(self, spec: RunSpec, environment: Mapping[str, str]) -> Guard:
        return look(spec, environment)

    def limits(self, asked: Limits) -> Limits:
        return asked

    def command(self, spec: RunSpec, directory: Path, data: Path, limits: Limits) -> list[str]:
        return rank_command(spec, directory, data, stall_limit_s=limits.stall_limit_s)

    def ender(self, directory: Path) -> None:
        return None

    def took(self, signum: int, steps: int) -> None:
        return None


def make_starter(environment: Mapping[str, str] = os.environ) -> Starter:
    """A list of hosts, where one is given; else the SLURM job we are in; else this host. Raises UserError."""
    if environment.get(HOSTS, "").strip():
        return Hosts(parse_hosts(environment[HOSTS]))
    job = job_id(environment)
    return Slurm(read_job(job)) if job else Here()
