"""Checks that each rank has a GPU of its own, before NCCL makes a communicator.

With two ranks on one GPU, NCCL fails with an unspecific message, or hangs. The ranks compare their devices through
the store of the rendezvous, which needs no communicator.
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
"""The store's server lives as long as the store of rank 0, and the process group uses the same server."""


@dataclass(frozen=True)
class Gpu:
    """The identity of a GPU."""

    node: str
    uuid: str
    pci: str
    """Address on the node's PCI bus, such as '0000:3b:00'; empty if torch does not report it.
    MIG slices of a GPU share an address but have different UUIDs; NCCL treats them as one GPU."""


def refuse_shared_gpu(place: Placement, *, timeout_s: float) -> None:
    """Raise PlacementError on every rank if two ranks share a GPU under NCCL. It names the ranks and the GPU.

    Ranks that communicate over gloo may share a device. timeout_s: seconds in which all ranks must arrive.
    """
    if place.world_size == 1 or place.backend != "nccl":
        return
    store, _, _ = next(iter(rendezvous("env://", timeout=datetime.timedelta(seconds=timeout_s))))
    _KEPT.append(store)
    compare_gpus(store, place.rank, place.world_size, gpu_of(place))


def compare_gpus(store: dist.Store, rank: int, world_size: int, mine: Gpu) -> None:
    """Exchange the ranks' GPUs through the store, and compare them. Raises PlacementError as above."""
    shared = dist.PrefixStore("gpus", store)
    shared.set(str(rank), json.dumps(asdict(mine)))
    gpus = [Gpu(**json.loads(shared.get(str(other)))) for other in range(world_size)]
    if shared.add("have read", 1) == world_size:
        shared.set("all have read", "")
    if rank == 0:  # it serves the store, so it exits last: another rank that waits here could lose the server
        shared.wait(["all have read"])
    if refused := on_one_gpu(gpus):
        raise PlacementError(refused)


def on_one_gpu(gpus: list[Gpu]) -> str | None:
    """Return which two ranks are on one GPU, in sentences; None if each has its own. gpus: one per rank."""
    for (first, one), (second, other) in combinations(enumerate(gpus), 2):
        same_slot = bool(one.pci) and (one.node, one.pci) == (other.node, other.pci)
        if one.uuid == other.uuid or same_slot:
            slot = f", PCI {one.pci}" if one.pci else ""
            return (
                f"rank {first} and rank {second} are on one GPU ({one.uuid}{slot}, on {one.node}), but NCCL needs"
                " one GPU per rank. Give each rank a GPU of its own: check CUDA_VISIBLE_DEVICES and the scales"
            )
    return None


def gpu_of(place: Placement) -> Gpu:
    """Return the GPU of this rank."""
    properties = torch.cuda.get_device_properties(place.device)
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    numbers = [number for number in parts if number is not None]
    pci = "{:04x}:{:02x}:{:02x}".format(*numbers) if len(numbers) == len(parts) else ""
    return Gpu(place.node, f"GPU-{properties.uuid}", pci)
