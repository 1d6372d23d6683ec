"""How a model is run on the ranks: the plain model in one process, DistributedDataParallel, or FSDP2.

The single-process baseline has no wrapper and no process group: it is what a user without any of this would run.
"""

import contextlib
import datetime
import os
from contextlib import AbstractContextManager

import torch
import torch.distributed as dist
from torch import Tensor, nn

from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement, PlacementError
from scalestudy.train.workloads import build_model

# torch 2.13 has new names for both and warns of the old ones; older versions have the old ones only.
all_gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
reduce_scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)

# A gloo group that loses its last reference joins its threads while Python's lock is held, and a thread that is
# just letting go of the last all-reduce waits for that lock: for ever. The last reference is kept until the
# process ends.
_ENDED: list[dist.ProcessGroup | None] = []


AFTER_US_S = 60.0
"""Seconds between our own watchdog (place/watchdog.py) and torch's timeout of a collective."""
LONGEST_S = 7 * 24 * 3600.0
"""Where ranks never give up: torch takes no endless timeout."""
HEARTBEAT = "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"
"""NCCL's own watchdog ends the process, without a report, when it has been silent for this long; 480 s by default.
Source: torch 2.13, ProcessGroupNCCL.hpp."""

# What gloo and NCCL say when another rank is gone, or does not answer.
LOST = (
    "connection closed by peer",
    "connection reset",
    "timed out waiting",
    "broken pipe",
    "socket timeout",
    "nccl",
)


def group_timeout_s(stall_limit_s: float) -> float:
    """Seconds after which a collective fails: later than a rank gives up and says what it waited for."""
    return min(stall_limit_s + AFTER_US_S, LONGEST_S)


def lost_peer(error: BaseException) -> bool:
    """Whether an error says that another rank is gone: then it is no cause, but what follows from one."""
    if isinstance(error, dist.DistBackendError | dist.DistNetworkError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in LOST)


class Strategy:
    """What the training loop asks of a strategy. This one is for one process: nothing is around the model."""

    def __init__(self, spec: TrainSpec, place: Placement) -> None:
        if place.world_size != 1:
            raise PlacementError(f"a single run came up with {place.world_size} ranks; 1 was planned")

    def build(self, spec: TrainSpec, place: Placement) -> nn.Module:
        """The model before it is wrapped. The seed gives the same parameters on every rank and at every scale."""
        torch.manual_seed(spec.seed)
        return build_model(spec.model, spec.data).to(place.device)

    def wrap(self, model: nn.Module, *, hooked: bool = True) -> nn.Module:
        """The module whose forward and backward the loop runs. hooked: with the spec's communication hook."""
        return model

    def outside_blocks(self, model: nn.Module) -> int:
        """Parameters that are gathered as a unit of their own beside the blocks; 0 where nothing is gathered."""
        return 0

    def no_sync(self, model: nn.Module) -> AbstractContextManager[None]:
        """Gradients of what runs in it are not summed over ranks; may be entered within itself."""
        return contextlib.nullcontext()

    def barrier(self) -> None:
        """Wait until all ranks are here."""

    def all_reduce_sum(self, values: Tensor) -> Tensor:
        """Sum over ranks."""
        return values

    def all_reduce_max(self, values: Tensor) -> Tensor:
        """Largest over ranks, element by element."""
        return values

    def close(self) -> None:
        """Give back what `__init__` took."""


class Grouped(Strategy):
    """What strategies over a process group share; nccl or gloo."""

    def __init__(self, spec: TrainSpec, place: Placement, *, stall_limit_s: float) -> None:
        """stall_limit_s: when a rank that stands still gives up by itself (place/watchdog.py)."""
        self._spec, self._place = spec, place
        timeout_s = group_timeout_s(stall_limit_s)
        os.environ.setdefault(HEARTBEAT, f"{timeout_s:.0f}")
        device = place.device if place.device.type == "cuda" else None
        # A checkpoint that is written while training goes on is agreed upon by the hosts, not by the devices.
        backend = "cpu:gloo,cuda:nccl" if device and spec.checkpoint_async else place.backend
        dist.init_process_group(backend, timeout=datetime.timedelta(seconds=timeout_s), device_id=device)

    def barrier(self) -> None:
        dist.barrier()

    def all_reduce_sum(self, values: Tensor) -> Tensor:
        dist.all_reduce(values)
        return values

    def all_reduce_max(self, values: Tensor) -> Tensor:
        dist.all_reduce(values, op=dist.ReduceOp.MAX)
        return values

    def close(self) -> None:
        if dist.is_initialized():
            _ENDED.append(dist.group.WORLD)
            dist.destroy_process_group()
