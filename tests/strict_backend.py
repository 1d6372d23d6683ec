"""A backend for process groups over gloo that is as strict as NCCL, since NCCL needs GPUs.

- A collective whose peer died never ends: a kernel of NCCL waits for its peers' memory and sees no closed socket.
  (torch 2.13, ProcessGroupNCCL.hpp: errors of peers are only found by timeouts of its watchdog.)
- A rank that waits in a collective is in C++, where Python's signal handlers do not run.
- Destroying a group waits for all of its ranks. (NCCL's user guide, ncclCommFinalize and ncclCommDestroy: a
  communicator is finalized by all of its ranks together.)
- There is no monitored barrier. (torch.distributed.monitored_barrier: only for gloo.)
- A tensor of ours that is not on the rank's device is rejected. (torch 2.13, distributed_c10d.py: a group of NCCL
  has no backend for tensors on the host.) Tensors that torch's own code sends are not checked.
"""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from handed_out import HandedOut, asked_by_torch, tensors
from torch import Tensor
from torch._C._distributed_c10d import _create_work_from_future
from torch.futures import Future

NAME = "strict"
NEVER = datetime.timedelta(days=1)
HANDED_OUT = HandedOut()
"""Entered by a rank that uses this backend, for as long as it lives."""


class StrictGroup(dist.ProcessGroup):
    """Runs every collective on gloo, but hides its errors."""

    def __init__(self, store: dist.Store, rank: int, size: int) -> None:
        super().__init__(rank, size)
        self._store, self._size = store, size
        self._gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, size, timeout=NEVER)

    def getBackendName(self) -> str:  # noqa: N802
        return NAME

    @property
    def group_name(self) -> str:
        return str(dist.distributed_c10d._world.pg_names[self])

    def shutdown(self) -> None:
        """Block until all ranks are here, as ncclCommFinalize does."""
        self._store.add("left", 1)
        while self._store.add("left", 0) < self._size:
            time.sleep(0.05)


def _of_gloo(name: str) -> Callable[..., dist.Work]:
    def collective(self: StrictGroup, *arguments: Any, **options: Any) -> dist.Work:
        if not asked_by_torch() and not all(map(HANDED_OUT.holds, tensors(arguments))):
            raise RuntimeError("No backend type associated with device type cpu")
        work, done = getattr(self._gloo, name)(*arguments, **options), Future()

        def wait() -> None:
            try:
                work.wait()
            except RuntimeError:
                return  # the peer is gone: the error is hidden
            done.set_result(arguments[0] if arguments and name != "barrier" else None)

        threading.Thread(target=wait, daemon=True).start()
        return _create_work_from_future(done)

    return collective


for _name in (
    *("allreduce", "allreduce_coalesced", "broadcast", "reduce", "barrier", "gather", "scatter", "send", "recv"),
    *("allgather", "allgather_coalesced", "_allgather_base", "allgather_into_tensor_coalesced"),
    *("alltoall", "alltoall_base", "reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"),
):
    setattr(StrictGroup, _name, _of_gloo(_name))
for _name, _older in (  # names in groups since torch 2.12; a plain backend lacks them
    ("all_gather_single", "_allgather_base"),
    ("reduce_scatter_single", "_reduce_scatter_base"),
    ("all_to_all_single", "alltoall_base"),
):
    setattr(StrictGroup, _name, _of_gloo(_older))


def _noted(of_bucket: Callable[[dist.GradBucket], Tensor]) -> Callable[[dist.GradBucket], Tensor]:
    def buffer(bucket: dist.GradBucket) -> Tensor:
        values = of_bucket(bucket)
        HANDED_OUT.note(values)
        return values

    return buffer


def register() -> None:
    """Register the backend, after which what DDP passes to a hook counts as on the device.

    Each collective has a thread here. Their stacks are small, for ranks with limited memory.
    """
    threading.stack_size(256 * 1024)
    dist.GradBucket.buffer = _noted(dist.GradBucket.buffer)
    dist.Backend.register_backend(
        NAME, lambda store, rank, size, _: StrictGroup(store, rank, size), devices=["cpu"]
    )
