"""Whether each rank has a GPU of its own, before NCCL makes a communicator of them.

NCCL refuses two ranks on one GPU in words of its own, or hangs. The ranks compare their devices through the store
by which they meet, which needs no communicator.
"""

import datetime
import json
from dataclasses import asdict, dataclass
from itertools import combinations

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from scalestudy.train.place.placement import Placement, PlacementError

_KEPT: list[dist.Store] = []
"""The server of the store lives as long as the store of rank 0, and the process group takes the same server."""


@dataclass(frozen=True)
class Gpu:
    """What tells a GPU from all others."""

    node: str
    uuid: str
    pci: str
    """Address on the node's PCI bus, such as '0000:3b:00'; empty where torch does not tell it.
    Slices of a GPU have one address and a UUID each; NCCL takes them for one GPU."""


def refuse_shared_gpu(place: Placement, *, timeout_s: float) -> None:
    """Raise PlacementError on every rank if two ranks of NCCL are on one GPU. It names the ranks and the GPU.

    Ranks that talk over gloo may share a device. timeout_s: seconds for all ranks to come.
    """
    if place.world_size == 1 or place.backend != "nccl":
        return
    store, _, _ = next(iter(rendezvous("env://", timeout=datetime.timedelta(seconds=timeout_s))))
    _KEPT.append(store)
    compare_gpus(store, place.rank, place.world_size, gpu_of(place))


def compare_gpus(store: dist.Store, rank: int, world_size: int, mine: Gpu) -> None:
    """Tell all ranks of `mine` through the store, and compare all of them. Raises PlacementError as above."""
    shared = dist.PrefixStore("gpus", store)
    shared.set(str(rank), json.dumps(asdict(mine)))
    gpus = [Gpu(**json.loads(shared.get(str(other)))) for other in range(world_size)]
    if shared.add("have read", 1) == world_size:
        shared.set("all have read", "")
    shared.wait(["all have read"])  # rank 0 serves the store: it may not leave before the others know
    if refused := on_one_gpu(gpus):
        raise PlacementError(refused)


def on_one_gpu(gpus: list[Gpu]) -> str | None:
    """Which two ranks are on one GPU, as a sentence; None where each has its own. gpus: one a rank."""
    for (first, one), (second, other) in combinations(enumerate(gpus), 2):
        same_slot = bool(one.pci) and (one.node, one.pci) == (other.node, other.pci)
        if one.uuid == other.uuid or same_slot:
            slot = f", PCI {one.pci}" if one.pci else ""
            return (
                f"rank {first} and rank {second} are on one GPU ({one.uuid}{slot}, on {one.node}), and NCCL takes"
                " one rank a GPU. Give each rank a GPU of its own: look at CUDA_VISIBLE_DEVICES and at the scales"
            )
    return None


def gpu_of(place: Placement) -> Gpu:
    """The GPU of this rank."""
    properties = torch.cuda.get_device_properties(place.device)
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    numbers = [number for number in parts if number is not None]
    pci = "{:04x}:{:02x}:{:02x}".format(*numbers) if len(numbers) == len(parts) else ""
    return Gpu(place.node, f"GPU-{properties.uuid}", pci)
