"""What is started for a run: the command line and the environment of its ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scalestudy.study.spec import RunSpec

# Every library that starts threads of its own. Snakemake exports a rule's `threads` into all of them and torchrun
# keeps what is set, so each is set here, to what one rank is meant to have.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "GOTO_NUM_THREADS",
)


def rank_command(spec: RunSpec, directory: Path) -> list[str]:
    """The command that starts all ranks: plain python for one process, torchrun for several.

    The number of ranks comes from the spec alone, never from what a scheduler says it granted.
    """
    worker = [
        "-m",
        "scalestudy.train",
        "--spec",
        str(directory / "spec.json"),
        "--out",
        str(directory),
    ]
    if spec.strategy == "single":
        return [sys.executable, *worker]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nnodes=1"]
    return [sys.executable, *torchrun, f"--nproc_per_node={spec.devices_per_node}", *worker]


def rank_environment(spec: RunSpec) -> dict[str, str]:
    """The environment of the ranks: ours, threads per rank, and what the study sets."""
    threads = dict.fromkeys(THREAD_VARIABLES, str(spec.host.cores_per_rank))
    return os.environ | threads | {"PYTHONUNBUFFERED": "1"} | spec.host.environment
