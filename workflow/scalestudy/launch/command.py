"""What is started on a node for a run: the command line and the environment of its ranks."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from scalestudy.study.config.conditions import THREAD_VARIABLES
from scalestudy.study.spec import WORKER, RunSpec


@dataclass(frozen=True)
class Meeting:
    """Where the nodes of a run meet: torchrun's c10d rendezvous."""

    address: str
    port: int
    name: str
    """Of this one launch: nodes of another that come to the same port by accident are not let in."""
    hosted: bool
    """Whether this node holds the store that the others come to."""
    limit_s: int
    """Seconds after which nodes that have not come are given up."""


def rank_command(
    spec: RunSpec, directory: Path, data: Path, *, stall_limit_s: float = math.inf, meeting: Meeting | None = None
) -> list[str]:
    """The command that starts the ranks of one node: plain python for one process, torchrun for several.

    The number of ranks comes from the spec alone, never from what a scheduler says it granted. data: prepared
    data. stall_limit_s: seconds without a step after which a rank gives up. meeting: not needed on a single node.
    """
    worker = [
        "-m",
        spec.host.environment.get(WORKER, "scalestudy.train"),
        "--spec",
        str(directory / "spec.json"),
        "--out",
        str(directory),
        "--data",
        str(data),
        f"--stall-limit-s={stall_limit_s:g}",
    ]
    if spec.strategy == "single":
        return [sys.executable, *worker]
    if meeting is None:
        where = ["--standalone", "--nnodes=1"]
    else:
        where = [
            f"--nnodes={spec.nodes}",
            "--rdzv_backend=c10d",
            f"--rdzv_id={meeting.name}",
            f"--rdzv_endpoint={meeting.address}:{meeting.port}",
            f"--rdzv_conf=is_host={int(meeting.hosted)},join_timeout={meeting.limit_s}",
        ]
    ranks = f"--nproc_per_node={spec.devices_per_node}"
    return [sys.executable, "-m", "torch.distributed.run", *where, ranks, *worker]


def rank_environment(spec: RunSpec) -> dict[str, str]:
    """The environment of the ranks: ours, threads per rank, and what the study sets."""
    threads = dict.fromkeys(THREAD_VARIABLES, str(spec.host.cores_per_rank))
    return os.environ | threads | {"PYTHONUNBUFFERED": "1"} | spec.host.environment
