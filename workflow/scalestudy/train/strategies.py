"""How a model is run on the ranks: the plain model in one process, DistributedDataParallel, or FSDP2.

The single-process baseline has no wrapper and no process group: it is what a user without any of this would run.
"""

from __future__ import annotations

import datetime
from typing import Literal, Protocol

import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

from scalestudy.train.placement import Placement, PlacementError

# A gloo group that loses its last reference joins its threads while Python's lock is held, and a thread that is
# just letting go of the last all-reduce waits for that lock: for ever. The last reference is kept until the
# process ends.
_ENDED: list[dist.ProcessGroup | None] = []


class Strategy(Protocol):
    """What the training loop asks of a strategy."""

    def wrap(self, model: nn.Module) -> nn.Module:
        """The module whose forward and backward the loop runs."""

    def barrier(self) -> None:
        """Wait until all ranks are here."""

    def total(self, values: Tensor) -> Tensor:
        """Sum over ranks."""

    def largest(self, values: Tensor) -> Tensor:
        """Largest over ranks, element by element."""

    def gradient_bytes(self, model: nn.Module) -> int | None:
        """Bytes of gradients synchronised each optimizer step; None where nothing is."""

    def close(self) -> None:
        """Give back what `__init__` took."""


class Single:
    """One process, nothing around the model."""

    def __init__(self, place: Placement) -> None:
        if place.world_size != 1:
            raise PlacementError(f"a single run came up with {place.world_size} ranks; 1 was planned")

    def wrap(self, model: nn.Module) -> nn.Module:
        return model

    def barrier(self) -> None:
        pass

    def total(self, values: Tensor) -> Tensor:
        return values

    def largest(self, values: Tensor) -> Tensor:
        return values

    def gradient_bytes(self, model: nn.Module) -> int | None:
        return None

    def close(self) -> None:
        pass


class Grouped:
    """What strategies over a process group share; nccl or gloo."""

    def __init__(self, place: Placement, *, timeout_s: float = 300) -> None:
        device = place.device if place.device.type == "cuda" else None
        dist.init_process_group(place.backend, timeout=datetime.timedelta(seconds=timeout_s), device_id=device)
        self._place = place

    def barrier(self) -> None:
        dist.barrier()

    def total(self, values: Tensor) -> Tensor:
        dist.all_reduce(values)
        return values

    def largest(self, values: Tensor) -> Tensor:
        dist.all_reduce(values, op=dist.ReduceOp.MAX)
        return values

    def gradient_bytes(self, model: nn.Module) -> int | None:
        return sum(p.numel() * p.element_size() for p in model.parameters() if p.requires_grad)

    def close(self) -> None:
        if dist.is_initialized():
            _ENDED.append(dist.group.WORLD)
            dist.destroy_process_group()


class Ddp(Grouped):
    """DistributedDataParallel with torch's own defaults."""

    def wrap(self, model: nn.Module) -> nn.Module:
        ids = [self._place.device.index] if self._place.device.type == "cuda" else None
        return DistributedDataParallel(model, device_ids=ids)


class Fsdp(Grouped):
    """FSDP2: parameters, gradients and optimizer sharded over all ranks, gathered layer by layer."""

    def wrap(self, model: nn.Module) -> nn.Module:
        """The module itself, sharded: each child with parameters is a unit of its own. Sharded once only."""
        if isinstance(model, FSDPModule):
            return model
        mesh = init_device_mesh(self._place.device.type, (self._place.world_size,))
        for child in model.children():
            if any(True for _ in child.parameters()):
                fully_shard(child, mesh=mesh)
        return fully_shard(model, mesh=mesh)


def make_strategy(name: Literal["single", "ddp", "fsdp"], place: Placement) -> Strategy:
    """The strategy of a spec."""
    return {"single": Single, "ddp": Ddp, "fsdp": Fsdp}[name](place)
