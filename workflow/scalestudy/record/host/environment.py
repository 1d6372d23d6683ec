"""The environment of a run that can be read without torch: host, versions, commit, and hardware."""

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import psutil
import pynvml

from scalestudy import __version__
from scalestudy.project import root
from scalestudy.record.host.cgroup import cpu_quota_cores, memory_limit_gib
from scalestudy.record.host.cpus import cpu_facts, cpu_name
from scalestudy.record.host.gpus import gpu_facts
from scalestudy.study.secrets import is_secret

PACKAGES = ("torch", "numpy", "pandas", "scikit-learn", "snakemake")

NODE = "SCALESTUDY_NODE"
"""Environment variable with the name of the node, for a rank that was started on one of several nodes."""

# Environment variables that affect speed. Other variables are not recorded, since they may be private.
PREFIXES = (
    *("NCCL_", "GLOO_", "OMP_", "MKL_", "MALLOC_", "TORCH_", "PYTORCH_", "CUDA_", "KMP_"),
    *("FI_", "UCX_"),  # libfabric and UCX carry NCCL's traffic between nodes
    "NVIDIA_TF32_OVERRIDE",
)


def host_environment() -> dict[str, Any]:
    """Return versions, host, processor, memory, commit, and the environment variables that affect speed."""
    commit, dirty = source_commit()
    return {
        "scalestudy": __version__,
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.release()}",
        "host": platform.node(),
        "cpu": cpu_name(),
        "cpu_cores": os.cpu_count(),
        "cores_available": len(os.sched_getaffinity(0)),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "slurm_job_id": os.environ.get("SLURM_JOB_ID"),
        "variables": {k: v for k, v in sorted(os.environ.items()) if k.startswith(PREFIXES) and not is_secret(k)},
    }


def hardware_facts(environment: Mapping[str, str], nvml: Any = pynvml) -> dict[str, Any]:
    """Return the hardware that ranks with this environment (its CUDA_VISIBLE_DEVICES counts) find on this host.

    A key that begins with `current_` is a reading taken just before the run; it differs from run to run.
    """
    return {
        "cpu": cpu_facts() | {"quota_cores": cpu_quota_cores()},
        "memory": {
            "total_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "limit_gib": memory_limit_gib(),
        },
        "gpu": gpu_facts(environment, nvml),
    }


def source_commit() -> tuple[str | None, bool | None]:
    """Return (commit, dirty) of the checkout this package runs from; (None, None) if it is not a checkout."""
    if not (root() / ".git").exists():
        return None, None
    git = ["git", "-C", str(root())]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        status = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None, None
    return head.stdout.strip(), bool(status.stdout.strip())


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
