"""Whether the ranks that came up are those that were planned, on as many nodes, each with a device of its own."""

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
    """A rank as the others see it."""

    rank: int
    node: str
    device: str
    """'cpu', or what tells a GPU from all others."""


def meet(spec: TrainSpec, place: Placement, directory: Path) -> None:
    """All ranks tell each other where they are, and compare it with the plan; rank 0 leaves it in world.json.

    Raises PlacementError, on every rank, where it is not what was planned: numbers of another scale than the one
    in the table must not come about.
    """
    mine = Member(place.rank, place.node, _device(place.device))
    world: list[Member] = [mine] * place.world_size
    if dist.is_initialized():
        dist.all_gather_object(world, mine)
    if place.rank == 0:
        write_json(directory / "world.json", [asdict(member) for member in world], lasting=False)
    refused = compare(spec, world)
    if refused:
        raise PlacementError(refused)


def compare(spec: TrainSpec, world: list[Member]) -> str | None:
    """What is not as planned, as a sentence; None where all is."""
    planned = f"{spec.nodes} node(s) with {spec.devices_per_node} rank(s) each"
    ranks = Counter(member.node for member in world)
    if len(world) != spec.world_size or set(ranks.values()) != {spec.devices_per_node}:
        came = ", ".join(f"{count} on {node}" for node, count in sorted(ranks.items()))
        return f"{planned} were planned; what came up is {came}"
    shared = [
        device for device, count in Counter(m.device for m in world).items() if count > 1 and device != "cpu"
    ]
    if shared:
        ranks_of = ", ".join(str(member.rank) for member in world if member.device == shared[0])
        return f"ranks {ranks_of} came up on one GPU, {shared[0]}; each was to have its own"
    if len({member.device == "cpu" for member in world}) > 1:
        return "some ranks came up on GPUs and some on CPUs; host.device says which is meant"
    return None


def _device(device: torch.device) -> str:
    return "cpu" if device.type == "cpu" else f"GPU-{torch.cuda.get_device_properties(device).uuid}"
