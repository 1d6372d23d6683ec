"""Checks that the ranks that started are the planned ones, on the planned nodes, each with a device of its own."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.distributed as dist

from scalestudy.record.files import write_json
from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement, PlacementError


@dataclass(frozen=True)
class Member:
    """The place of a rank, as sent to the other ranks."""

    rank: int
    node: str
    device: str
    """'cpu', or the UUID of the GPU."""


def meet(spec: TrainSpec, place: Placement, directory: Path) -> None:
    """Exchange the places of all ranks, and compare them with the plan; rank 0 writes them to world.json.

    Raises PlacementError on every rank if they differ from the plan: the tables must not list numbers under a
    scale at which they were not measured. Ranks that communicate over gloo may share a GPU.
    """
    mine = Member(place.rank, place.node, _device(place.device))
    world: list[Member] = [mine] * place.world_size
    if dist.is_initialized():
        dist.all_gather_object(world, mine)
    if place.rank == 0:
        write_json(directory / "world.json", [asdict(member) for member in world], lasting=False)
    refused = compare(spec, world, may_share=place.backend == "gloo")
    if refused:
        raise PlacementError(refused)


def compare(spec: TrainSpec, world: list[Member], *, may_share: bool = False) -> str | None:
    """Return what differs from the plan, as a sentence; None if nothing does. may_share: one GPU for all ranks."""
    planned = f"{spec.nodes} node(s) with {spec.devices_per_node} rank(s) each"
    ranks = Counter(member.node for member in world)
    if len(world) != spec.world_size or set(ranks.values()) != {spec.devices_per_node}:
        came = ", ".join(f"{count} on {node}" for node, count in sorted(ranks.items()))
        return f"{planned} were planned, but the ranks that started are {came}"
    shared = [
        device for device, count in Counter(m.device for m in world).items() if count > 1 and device != "cpu"
    ]
    if shared and not may_share:
        ranks_of = ", ".join(str(member.rank) for member in world if member.device == shared[0])
        return f"ranks {ranks_of} started on one GPU, {shared[0]}; each must have its own"
    if len({member.device == "cpu" for member in world}) > 1:
        return "some ranks started on GPUs and some on CPUs; set host.device to cpu or cuda"
    return None


def _device(device: torch.device) -> str:
    return "cpu" if device.type == "cpu" else f"GPU-{torch.cuda.get_device_properties(device).uuid}"
