"""Number of samples of a batch, and a fingerprint that shows whether two ranks read the same batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DEEPEST = 4
"""Levels of nested dictionaries and lists that are searched for tensors."""


def tensors(batch: Any, torch: Any, depth: int = 0) -> Iterator[Any]:
    """Tensors of a batch of any type, in their order."""
    if isinstance(batch, torch.Tensor):
        yield batch
        return
    if depth == DEEPEST or isinstance(batch, (str, bytes)):
        return
    if hasattr(batch, "keys") and hasattr(batch, "__getitem__"):
        inner = [batch[key] for key in batch.keys()]  # noqa: SIM118 - some batches have keys and no iteration
    elif isinstance(batch, (list, tuple)):
        inner = list(batch)
    else:
        inner = list(getattr(batch, "__dict__", {}).values())
    for one in inner:
        yield from tensors(one, torch, depth + 1)


def samples_of(batch: Any, torch: Any, place: int = 0) -> int:
    """Number of samples of a batch: the first dimension of a tensor; else the length of a list; 0 if unknown.

    place: index of the tensor among those that have dimensions.
    """
    if place == 0 and type(batch) in (list, tuple) and batch and type(batch[0]) is torch.Tensor and batch[0].dim():
        return int(batch[0].size(0))  # the most common case
    for tensor in tensors(batch, torch):
        if tensor.dim():
            if place == 0:
                return int(tensor.shape[0])
            place -= 1
    return len(batch) if isinstance(batch, (list, tuple)) else 0


def fingerprint(batch: Any, torch: Any) -> list[float]:
    """Sum, and sum weighted by position, of each tensor of a batch. Equal batches have equal fingerprints."""
    found: list[float] = []
    with torch.no_grad():
        for tensor in tensors(batch, torch):
            if tensor.numel() and not tensor.is_cuda:
                flat = tensor.detach().reshape(-1).to(torch.float64)
                place = torch.arange(1, flat.numel() + 1, dtype=torch.float64)
                found += [float(flat.sum()), float((flat * place).sum())]
    return found
