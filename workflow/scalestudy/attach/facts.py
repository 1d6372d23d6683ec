"""What is known of a script's model and loaders without looking at its steps: read when they are made, and at the end."""

from __future__ import annotations

import sys
from typing import Any

OF_DDP = ("find_unused_parameters", "broadcast_buffers", "gradient_as_bucket_view", "static_graph")
OF_LOADERS = ("pin_memory", "persistent_workers", "prefetch_factor")
MOST_COUNTED = 10
"""Passes that DDP's logger counts one by one; of later ones it counts every hundredth."""


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


def synchronised_passes(ddp: Any) -> int | None:
    """Backward passes up to now that synchronised gradients; None where there were too many to be counted.

    The logger notes its number at the start of each pass but the first.
    """
    passes = int(ddp._get_ddp_logging_data().get("iteration", 0)) + 1
    return passes if passes <= MOST_COUNTED else None


def bucket_bytes(ddp: Any) -> list[int]:
    """Bytes of each gradient bucket, as DDP itself says."""
    facts = ddp._get_ddp_logging_data()
    sizes = facts.get("rebuilt_bucket_sizes") or facts.get("initial_bucket_sizes") or ""
    return [int(size) for size in str(sizes).replace(",", " ").split()]


def at_the_end(ddp: Any) -> dict[str, Any]:
    """What DDP knows once it has trained."""
    found: dict[str, Any] = {"buckets": len(bucket_bytes(ddp)), "static_graph": bool(getattr(ddp, "static_graph", 0))}
    if ddp.find_unused_parameters:
        size = ddp._get_ddp_logging_data().get("unused_parameter_size")
        found["unused_parameter_bytes"] = None if size is None else int(size)
    return found


def is_compiled() -> bool:
    """Whether torch.compile made any graph in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    return bool(utils is not None and utils.counters["stats"].get("unique_graphs"))
