"""A limit on a rank's memory, so that a small machine can represent a small GPU."""

import math
import os
import resource
from pathlib import Path

import psutil
import torch

from scalestudy.record.host.cgroup import memory_left_of_cgroup_gib
from scalestudy.train.place.placement import Placement, PlacementError

GIB = 2**30
# Parts of the messages of a RuntimeError when no memory is left: from torch's allocators, the C++ library and the
# CUDA driver, and from CUDA libraries that allocate a workspace (CUBLAS_STATUS_ALLOC_FAILED,
# CUDNN_STATUS_ALLOC_FAILED; in cuDNN 9 CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED).
REFUSED = (
    *("can't allocate memory", "not enough memory", "bad_alloc", "cannot allocate memory", "out of memory"),
    *("_alloc_failed", "_allocation_failed", "cuda_error_out_of_memory", "cudaerrormemoryallocation"),
)


def limit_memory(gib: float | None, place: Placement) -> None:
    """Limit the memory of this process to `gib` from now on: an allocation beyond it fails.

    CPU: the kernel limits private writable mappings, not resident memory. So the limit is the presently mapped
    memory plus `gib` minus the presently resident memory. CUDA: torch's allocator is limited to a share of the
    device. Raises PlacementError if the process exceeds the limit already.
    """
    if gib is None:
        return
    if place.device.type == "cuda":
        total = torch.cuda.get_device_properties(place.device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, gib * GIB / total), place.device)
        return
    memory = psutil.Process(os.getpid()).memory_info()
    left = int(gib * GIB) - memory.rss
    if left <= 0:
        raise PlacementError(
            f"host.memory_limit_gib: {gib:g} is less than the {memory.rss / GIB:.2f} GiB that a rank uses before"
            " training; raise it"
        )
    limit = mapped_bytes() + left
    resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def lift_limit() -> None:
    """Remove the limit, so that a rank that ran out of memory can still write its part."""
    resource.setrlimit(resource.RLIMIT_DATA, (resource.getrlimit(resource.RLIMIT_DATA)[1],) * 2)


def memory_left_gib(gib: float | None, place: Placement, *, sharing: int = 1) -> float:
    """Return the memory that this process can still allocate, within its limit and on the device or host, in GiB.

    gib: the limit passed to `limit_memory`. sharing: number of processes of this host that allocate the same
    amount at the same time; each has a device of its own, and all share the host.
    """
    if place.device.type == "cuda":
        held = torch.cuda.memory_allocated(place.device)
        free = torch.cuda.mem_get_info(place.device)[0] + torch.cuda.memory_reserved(place.device) - held
        return (free if gib is None else min(free, gib * GIB - held)) / GIB
    on_host: float = psutil.virtual_memory().available / GIB
    if (of_cgroup := memory_left_of_cgroup_gib()) is not None:
        on_host = min(on_host, of_cgroup)
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    own = math.inf if limit == resource.RLIM_INFINITY else (limit - mapped_bytes()) / GIB
    return min(own, on_host / sharing)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that no memory was left."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in REFUSED)


def mapped_bytes() -> int:
    """Return the bytes that the kernel presently counts against the limit."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    line = next(line for line in status if line.startswith("VmData:"))
    return int(line.split()[1]) * 1024
