"""Facts of models and loaders that do not depend on steps: read when they are created, and at the end."""

from __future__ import annotations

import sys
from typing import Any, Callable

OF_DDP = ("find_unused_parameters", "broadcast_buffers", "gradient_as_bucket_view", "static_graph")
OF_LOADERS = ("pin_memory", "persistent_workers", "prefetch_factor")
MOST_COUNTED = 10
"""DDP's logger counts this number of passes one by one, then every hundredth."""


def tried(read: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """The result of a function of this module; empty if it fails with this version of torch."""
    try:
        return read(*arguments)
    except Exception:
        return {}


def of_loader(loader: Any) -> dict[str, Any]:
    """Batch size, workers and options of a DataLoader."""
    size = getattr(loader, "batch_size", None)
    if size is None:
        size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    found = {"batch_size": size, "workers": getattr(loader, "num_workers", 0)}
    found.update((name, getattr(loader, name, None)) for name in OF_LOADERS)
    return found


def of_model(model: Any, strategy: str, torch: Any) -> dict[str, Any]:
    """Facts of a model that was just wrapped."""
    found: dict[str, Any] = {
        "buffer_bytes": sum(buffer.numel() * buffer.element_size() for buffer in model.buffers()),
        "synchronised_norms": sum(isinstance(module, torch.nn.SyncBatchNorm) for module in model.modules()),
    }
    if strategy == "ddp":
        found["ddp"] = {"bucket_cap_mb": getattr(model, "bucket_bytes_cap", 0) / 2**20, **of_ddp(model)}
    return found


def of_ddp(ddp: Any) -> dict[str, Any]:
    """Options of a DistributedDataParallel, with torch's names."""
    return {name: bool(getattr(ddp, name)) for name in OF_DDP if hasattr(ddp, name)}


def of_first_step(ddp: Any, passes: int, so_far: int) -> dict[str, Any]:
    """Backward passes of a step, and how many of them synchronised gradients; None where this is unknown.

    passes: of the step. so_far: all passes so far, including those of a second step. ddp: None without DDP. The
    logger notes its count at the start of each pass except the first.
    """
    found: dict[str, Any] = {"passes": passes, "synchronised_passes": None}
    if ddp is not None and so_far:
        synchronised = int(ddp._get_ddp_logging_data().get("iteration", 0)) + 1
        if synchronised <= MOST_COUNTED:
            found["synchronised_passes"] = round(synchronised * passes / so_far)
    return found


def bucket_bytes(ddp: Any) -> list[int]:
    """Bytes of each gradient bucket, as reported by DDP."""
    facts = ddp._get_ddp_logging_data()
    names = ("rebuilt_bucket_sizes", "initial_bucket_sizes", "bucket_sizes")
    sizes = next((facts[name] for name in names if facts.get(name)), "")
    return [int(size) for size in str(sizes).replace(",", " ").split()]


def at_the_end(ddp: Any) -> dict[str, Any]:
    """Facts of DDP after the training, and whether the model was compiled. ddp: None without DDP."""
    if ddp is None:
        return {"compiled": is_compiled()}
    found: dict[str, Any] = {"compiled": is_compiled(), "buckets": len(bucket_bytes(ddp))}
    if ddp.find_unused_parameters:
        size = ddp._get_ddp_logging_data().get("unused_parameter_size")
        found["unused_parameter_bytes"] = None if size is None else int(size)
    return found


def is_compiled() -> bool:
    """Whether torch.compile made a graph in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    return bool(utils is not None and utils.counters["stats"].get("unique_graphs"))


def has_gradients(optimizer: Any) -> bool:
    """Whether any parameter has a gradient. Otherwise a step of the optimizer updates nothing."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                return True
    return False


def place_of(environment: Any) -> tuple[int, int]:
    """(rank, number of ranks) from torchrun's variables; (0, 1) without them."""
    return int(environment.get("RANK", 0)), int(environment.get("WORLD_SIZE", 1))
