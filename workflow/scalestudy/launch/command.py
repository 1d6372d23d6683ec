"""What is started for a run: the command line and the environment of its ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scalestudy.study.spec import RunSpec
from scalestudy.study.threads import THREAD_VARIABLES


def rank_command(spec: RunSpec, directory: Path, data: Path) -> list[str]:
    """The command that starts all ranks: plain python for one process, torchrun for several. data: prepared data.

    The number of ranks comes from the spec alone, never from what a scheduler says it granted.
    """
    worker = [
        "-m",
        "scalestudy.train",
        "--spec",
        str(directory / "spec.json"),
        "--out",
        str(directory),
        "--data",
        str(data),
    ]
    if spec.strategy == "single":
        return [sys.executable, *worker]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nnodes=1"]
    return [sys.executable, *torchrun, f"--nproc_per_node={spec.devices_per_node}", *worker]


def rank_environment(spec: RunSpec) -> dict[str, str]:
    """The environment of the ranks: ours, threads per rank, and what the study sets."""
    threads = dict.fromkeys(THREAD_VARIABLES, str(spec.host.cores_per_rank))
    return os.environ | threads | {"PYTHONUNBUFFERED": "1"} | spec.host.environment
