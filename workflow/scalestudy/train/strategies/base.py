"""How a model is run on the ranks: the plain model in one process, DistributedDataParallel, or FSDP2.

The single-process baseline has no wrapper and no process group: it is an ordinary single-process training.
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

# torch 2.13 has new names for both and deprecates the old ones; older versions have the old ones only.
all_gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
reduce_scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)

# When a gloo group loses its last reference, it joins its threads while holding Python's lock. A thread that is
# just releasing the last all-reduce waits for that lock, which is a deadlock. So the last reference is kept until
# the process ends.
_ENDED: list[dist.ProcessGroup | None] = []


AFTER_US_S = 60.0
"""Seconds from the limit of our own watchdog (place/watchdog.py) to torch's timeout of a collective."""
LONGEST_S = 7 * 24 * 3600.0
"""Timeout if ranks never give up: torch does not accept an infinite one."""
HEARTBEAT = "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"
"""After this time without a heartbeat, torch's NCCL watchdog ends the process without a report; 480 s by default.
Source: torch 2.13, ProcessGroupNCCL.hpp."""

# Parts of the messages of gloo and NCCL when another rank is gone, or does not answer.
LOST = (
    "connection closed by peer",
    "connection reset",
    "timed out waiting",
    "broken pipe",
    "socket timeout",
    "nccl",
)


def group_timeout_s(stall_limit_s: float) -> float:
    """Return the seconds after which a collective fails: later than a rank gives up and reports where it was."""
    return min(stall_limit_s + AFTER_US_S, LONGEST_S)


def lost_peer(error: BaseException) -> bool:
    """Return whether an error means that another rank is gone. Such an error is a consequence, not the cause."""
    if isinstance(error, dist.DistBackendError | dist.DistNetworkError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in LOST)


class Strategy:
    """The interface between the training loop and a strategy. This class is for one process, without a wrapper."""

    def __init__(self, spec: TrainSpec, place: Placement) -> None:
        if place.world_size != 1:
            raise PlacementError(f"a single-process run started with {place.world_size} ranks; 1 was planned")

    def build(self, spec: TrainSpec, place: Placement) -> nn.Module:
        """Return the model before it is wrapped. Its seed gives the same parameters on every rank and scale."""
        torch.manual_seed(spec.seed)
        return build_model(spec.model, spec.data).to(place.device)

    def wrap(self, model: nn.Module, *, hooked: bool = True) -> nn.Module:
        """Return the module that the loop trains. hooked: with the spec's communication hook."""
        return model

    def outside_blocks(self, model: nn.Module) -> int:
        """Return the number of parameters gathered outside the blocks, as a separate unit; 0 without gathering."""
        return 0

    def no_sync(self, model: nn.Module) -> AbstractContextManager[None]:
        """Return a context in which gradients are not reduced over ranks. It can be nested."""
        return contextlib.nullcontext()

    def barrier(self) -> None:
        """Wait until all ranks have arrived."""

    def all_reduce_sum(self, values: Tensor) -> Tensor:
        """Return the sum over ranks."""
        return values

    def all_reduce_max(self, values: Tensor) -> Tensor:
        """Return the maximum over ranks, element by element."""
        return values

    def close(self) -> None:
        """Release the resources that `__init__` acquired."""


class Grouped(Strategy):
    """The common part of strategies with a process group; nccl or gloo."""

    def __init__(self, spec: TrainSpec, place: Placement, *, stall_limit_s: float) -> None:
        """stall_limit_s: seconds without progress after which a rank gives up (place/watchdog.py)."""
        self._spec, self._place = spec, place
        timeout_s = group_timeout_s(stall_limit_s)
        os.environ.setdefault(HEARTBEAT, f"{timeout_s:.0f}")
        device = place.device if place.device.type == "cuda" else None
        # An asynchronous checkpoint is coordinated over gloo by the hosts, not over NCCL by the devices.
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
