"""What is known of a model and loaders without looking at steps: read when they are made, and at the end."""

from __future__ import annotations

import sys
from typing import Any, Callable

OF_DDP = ("find_unused_parameters", "broadcast_buffers", "gradient_as_bucket_view", "static_graph")
OF_LOADERS = ("pin_memory", "persistent_workers", "prefetch_factor")
MOST_COUNTED = 10
"""Passes that DDP's logger counts one by one; of later ones it counts every hundredth."""


def tried(read: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What a function here finds; nothing where this torch has it otherwise. The looking goes on."""
    try:
        return read(*arguments)
    except Exception:
        return {}


def of_loader(loader: Any) -> dict[str, Any]:
    """How large the batches of a DataLoader are meant to be, and who reads them."""
    size = getattr(loader, "batch_size", None)
    if size is None:
        size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    found = {"batch_size": size, "workers": getattr(loader, "num_workers", 0)}
    found.update((name, getattr(loader, name, None)) for name in OF_LOADERS)
    return found


def of_model(model: Any, strategy: str, torch: Any) -> dict[str, Any]:
    """Of a model that was just wrapped."""
    found: dict[str, Any] = {
        "buffer_bytes": sum(buffer.numel() * buffer.element_size() for buffer in model.buffers()),
        "synchronised_norms": sum(isinstance(module, torch.nn.SyncBatchNorm) for module in model.modules()),
    }
    if strategy == "ddp":
        found["ddp"] = {"bucket_cap_mb": getattr(model, "bucket_bytes_cap", 0) / 2**20, **of_ddp(model)}
    return found


def of_ddp(ddp: Any) -> dict[str, Any]:
    """Options of a DistributedDataParallel, by torch's names."""
    return {name: bool(getattr(ddp, name)) for name in OF_DDP if hasattr(ddp, name)}


def of_first_step(ddp: Any, passes: int, so_far: int) -> dict[str, Any]:
    """Backward passes of a step, and how many of them synchronised gradients; None where these are not known.

    passes: of the step. so_far: those that were made by now, of a second step too. ddp: None where there is none.
    The logger notes its number at the start of each pass but the first.
    """
    found: dict[str, Any] = {"passes": passes, "synchronised_passes": None}
    if ddp is not None and so_far:
        synchronised = int(ddp._get_ddp_logging_data().get("iteration", 0)) + 1
        if synchronised <= MOST_COUNTED:
            found["synchronised_passes"] = round(synchronised * passes / so_far)
    return found


def bucket_bytes(ddp: Any) -> list[int]:
    """Bytes of each gradient bucket, as DDP itself says."""
    facts = ddp._get_ddp_logging_data()
    names = ("rebuilt_bucket_sizes", "initial_bucket_sizes", "bucket_sizes")
    sizes = next((facts[name] for name in names if facts.get(name)), "")
    return [int(size) for size in str(sizes).replace(",", " ").split()]


def at_the_end(ddp: Any) -> dict[str, Any]:
    """What DDP knows once it has trained, and whether the model was compiled. ddp: None where there is none."""
    if ddp is None:
        return {"compiled": is_compiled()}
    found: dict[str, Any] = {"compiled": is_compiled(), "buckets": len(bucket_bytes(ddp))}
    if ddp.find_unused_parameters:
        size = ddp._get_ddp_logging_data().get("unused_parameter_size")
        found["unused_parameter_bytes"] = None if size is None else int(size)
    return found


def is_compiled() -> bool:
    """Whether torch.compile made any graph in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    return bool(utils is not None and utils.counters["stats"].get("unique_graphs"))


def has_gradients(optimizer: Any) -> bool:
    """Whether any parameter has a gradient: without one, an optimizer's step updates nothing."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                return True
    return False


def place_of(environment: Any) -> tuple[int, int]:
    """(rank, ranks) as torchrun tells them; (0, 1) without it."""
    return int(environment.get("RANK", 0)), int(environment.get("WORLD_SIZE", 1))
