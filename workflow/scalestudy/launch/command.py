"""What is started on a node for a run: the command line and the environment of its ranks."""

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from scalestudy.study.config.conditions import THREAD_VARIABLES
from scalestudy.study.spec import WORKER, RunSpec

STANDALONE = ("--standalone", "--nnodes=1")


def rank_command(
    spec: RunSpec,
    directory: Path,
    data: Path,
    *,
    stall_limit_s: float = math.inf,
    rendezvous: Sequence[str] = STANDALONE,
) -> list[str]:
    """The command that starts the ranks of one node: plain python for one process, torchrun for several.

    The number of ranks comes from the spec alone, never from what a scheduler says it granted. data: prepared
    data. stall_limit_s: seconds without a step after which a rank gives up. rendezvous: torchrun's arguments.
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
    ranks = f"--nproc_per_node={spec.devices_per_node}"
    return [sys.executable, "-m", "torch.distributed.run", *rendezvous, ranks, *worker]


def rank_environment(spec: RunSpec) -> dict[str, str]:
    """The environment of the ranks: ours, threads per rank, and what the study sets."""
    threads = dict.fromkeys(THREAD_VARIABLES, str(spec.host.cores_per_rank))
    return os.environ | threads | {"PYTHONUNBUFFERED": "1"} | spec.host.environment
