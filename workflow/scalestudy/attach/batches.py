"""Number of samples of a batch, and a fingerprint that shows whether two ranks read the same batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DEEPEST = 4
"""Levels of nested dictionaries and lists that are searched for tensors."""
MAP = 0
"""torch's `_DatasetKind.Map`: a dataset that is read by indices."""


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


class Samples:
    """Samples of the batches that iterators of DataLoaders return. Their `_scalestudy_drawn` is from hooks.py."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._places: dict[int, int] = {}
        """Loader -> index of the tensor of its batches whose first dimension is the number of samples."""

    def of(self, iterator: Any, batch: Any) -> int:
        """The number of indices that were drawn for the batch.

        An IterableDataset may return fewer samples at its end, and a loader without a batch size draws no list of
        indices: there a tensor of the batch gives the number, if one has that many rows.
        """
        drawn: int = iterator._scalestudy_drawn.popleft() if iterator._scalestudy_drawn else 0
        if drawn and iterator._dataset_kind == MAP:
            return drawn
        place = self._places.get(iterator._scalestudy)
        if place is None and drawn:
            rows = [int(tensor.shape[0]) for tensor in tensors(batch, self._torch) if tensor.dim()]
            if drawn not in rows:
                return drawn
            place = self._places[iterator._scalestudy] = rows.index(drawn)
        return samples_of(batch, self._torch, place or 0)


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
