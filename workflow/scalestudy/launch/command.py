"""The command line and the environment of the ranks of a run on one node."""

import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pynvml

from scalestudy.launch.foreign.start import script_command, script_environment
from scalestudy.launch.forked import client
from scalestudy.record.fingerprint import PACKAGE
from scalestudy.record.host.portions import portions_here, tell
from scalestudy.record.parts import LOGS
from scalestudy.study.config.conditions import THREAD_VARIABLES
from scalestudy.study.spec import WORKER, CommandSpec, RunSpec

TORCHRUN_LOGS = "PET_LOG_DIR"
"""Torchrun reads its option --log-dir from this variable (torch/distributed/argparse_util.py)."""
READ_WHEN_LOADED = (
    *("OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "VECLIB_", "GOTO_", "MALLOC_", "LD_", "PYTHON"),
    *("TORCH_", "PYTORCH_", "GLIBC_"),
)
"""Prefixes of the environment variables that libraries read when they are loaded."""


def rank_command(
    spec: RunSpec,
    directory: Path,
    data: Path,
    *,
    stall_limit_s: float = math.inf,
    rendezvous: Sequence[str] = (),
) -> list[str]:
    """The command that starts the ranks of one node: plain python for one process, cold.py for several.

    The number of ranks comes from the spec alone, never from the scheduler's allocation. data: prepared data.
    stall_limit_s: seconds without a step after which a rank gives up. rendezvous: torchrun's arguments for the
    rendezvous of several nodes.
    """
    if isinstance(spec, CommandSpec):
        return script_command(spec, directory.resolve(), rendezvous=rendezvous)
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
    if spec.host.start == "fork":
        ranks = 0 if spec.strategy == "single" else spec.devices_per_node
        key = parent_key(spec, directory, rank_environment(spec))
        return [sys.executable, "-S", client.__file__, "--key", key, f"--ranks={ranks}", *worker[1:]]
    if spec.strategy == "single":
        return [sys.executable, *worker]
    if not rendezvous:
        return [sys.executable, "-m", "scalestudy.launch.cold", str(spec.devices_per_node), *worker]
    nproc = f"--nproc_per_node={spec.devices_per_node}"
    return [sys.executable, "-m", "torch.distributed.run", *rendezvous, nproc, *worker]


def parent_key(spec: RunSpec, directory: Path, environment: Mapping[str, str]) -> str:
    """A key for the process that the ranks are forked from. Runs of a repeat that can share this process have the
    same key.

    They have the same code, results folder, control group, and values of the variables that libraries read when
    they are loaded, before the fork. directory: the run's partial directory.
    """
    loaded = {name: value for name, value in sorted(environment.items()) if name.startswith(READ_WHEN_LOADED)}
    shared = [
        sys.executable,
        [(file.name, file.stat().st_mtime_ns) for file in sorted(PACKAGE.rglob("*.py"))],
        str(directory.resolve().parent),
        spec.repeat,
        loaded,
        Path("/proc/self/cgroup").read_text(encoding="utf-8"),
    ]
    return hashlib.sha256(json.dumps(shared).encode()).hexdigest()[:16]


def starter_environment(spec: RunSpec) -> dict[str, str]:
    """The environment of the process that starts the ranks on other nodes: ours, and what the study sets."""
    return os.environ | {"PYTHONUNBUFFERED": "1"} | spec.host.environment


def rank_environment(spec: RunSpec, nvml: Any = pynvml) -> dict[str, str]:
    """The environment of the ranks on this node: ours, what the study sets, their CPUs, and threads per rank."""
    environment = starter_environment(spec)
    of_script = spec.environment if isinstance(spec, CommandSpec) else {}
    decided = portions_here(spec.host, spec.devices_per_node, environment | of_script, nvml)
    threads = dict.fromkeys(THREAD_VARIABLES, str(decided.cores_per_rank))
    return environment | threads | tell(decided) | spec.host.environment


def launch_environment(spec: RunSpec, directory: Path) -> dict[str, str]:
    """The environment of a run: the ranks' environment, and for a script the variables that attach us to it.

    Torchrun writes its logs to the run's directory. In the temporary directory they would stay if it is killed.
    """
    environment = {TORCHRUN_LOGS: str(directory.resolve() / LOGS)} | rank_environment(spec)
    if isinstance(spec, CommandSpec):
        return script_environment(spec, directory.resolve(), environment)
    return environment
