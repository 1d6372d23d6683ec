"""What torch and the driver say about the devices of a run, for its environment block."""

from __future__ import annotations

import subprocess
from typing import Any

import torch

from scalestudy.train.placement import Placement


def device_environment(place: Placement) -> dict[str, Any]:
    """Device, backend, versions of what moves the data, and the interconnect where it can be read."""
    facts: dict[str, Any] = {
        "device_type": place.device.type,
        "device": place.device_name,
        "device_choice": place.choice,
        "backend": place.backend if place.world_size > 1 else None,
        "threads_per_rank": place.threads,
        "interconnect": "host memory (gloo over TCP on one host)",
        "cuda": None,
        "nccl": None,
        "driver": None,
    }
    if place.device.type == "cuda":
        facts["cuda"] = torch.version.cuda
        facts["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        facts["driver"] = _nvidia_smi("--query-gpu=driver_version", "--format=csv,noheader")
        facts["interconnect"] = _nvidia_smi("topo", "-m") or "could not be read"
    if place.world_size == 1:
        facts["interconnect"] = "none: one process"
    return facts


def _nvidia_smi(*arguments: str) -> str | None:
    """What nvidia-smi answers, or None where it is not there or does not answer."""
    try:
        result = subprocess.run(["nvidia-smi", *arguments], capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()
