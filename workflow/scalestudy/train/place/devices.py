"""What torch and the driver say about the devices of a run, for its environment block."""

from __future__ import annotations

from typing import Any

import torch

from scalestudy.train.place.placement import Placement


def device_environment(place: Placement) -> dict[str, Any]:
    """Device, backend, and versions of what moves the data; driver and links stand in the block `hardware`."""
    several = place.world_size > place.local_world_size
    facts: dict[str, Any] = {
        "device_type": place.device.type,
        "device": place.device_name,
        "device_choice": place.choice,
        "backend": place.backend if place.world_size > 1 else None,
        "threads_per_rank": place.threads,
        "interconnect": "network between hosts (gloo)" if several else "host memory (gloo over TCP on one host)",
        "cuda": None,
        "nccl": None,
    }
    if place.device.type == "cuda":
        facts["cuda"] = torch.version.cuda
        facts["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        network = " and network between hosts" if several else ""
        facts["interconnect"] = f"links between GPUs{network} (nccl)"
    if place.world_size == 1:
        facts["interconnect"] = "none: one process"
    return facts
