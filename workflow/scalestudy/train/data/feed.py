"""How the loop gets its batches: it reads them itself, or through torch's DataLoader and its processes.

Both give the same batches in the same order. `open` announces an epoch, `read` returns its next batch.
"""

import time
from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from scalestudy.study.config.variants import InputOptions
from scalestudy.train.data import Split

Batch = tuple[Tensor, Tensor]
Allocate = Callable[[tuple[int, ...], torch.dtype], Tensor]


class Feed(Protocol):
    """A source of batches."""

    def open(self, batches: list[Tensor]) -> None:
        """Announce the index batches that will be read, in order. Earlier announcements are discarded."""

    def read(self, index: Tensor) -> Batch:
        """Return inputs and targets of the next index batch, which must be `index`."""


class Arrays(Dataset[Batch]):
    """Training samples, accessed by whole batches of indices.

    allocate: makes the tensor of a given shape and type that a batch is read into; None if torch makes it.
    """

    def __init__(self, split: Split, *, allocate: Allocate | None = None) -> None:
        self.inputs, self.targets, self._delay_s = split.train_inputs, split.train_targets, split.sample_delay_s
        self._allocate = allocate

    def __getitem__(self, index: Tensor) -> Batch:
        if self._delay_s:
            time.sleep(self._delay_s * len(index))
        return self._rows(self.inputs, index), self._rows(self.targets, index)

    def _rows(self, array: Tensor, index: Tensor) -> Tensor:
        if self._allocate is None:
            return array[index]
        return torch.index_select(array, 0, index, out=self._allocate((len(index), *array.shape[1:]), array.dtype))


class DirectFeed:
    """The loop reads by itself; nothing is read ahead. allocate: as in Arrays."""

    def __init__(self, split: Split, *, allocate: Allocate | None = None) -> None:
        inputs, targets = split.train_inputs, split.train_targets
        self.read: Callable[[Tensor], Batch] = (
            Arrays(split, allocate=allocate).__getitem__
            if split.sample_delay_s or allocate is not None
            else lambda index: (inputs[index], targets[index])  # the loop indexes the arrays directly
        )

    def open(self, batches: list[Tensor]) -> None:
        pass


def _pinned(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.empty(shape, dtype=dtype, pin_memory=True)


class _Announced(Sampler[Tensor]):
    """A sampler that yields the announced batches to the DataLoader."""

    def __init__(self) -> None:
        self.batches: list[Tensor] = []

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class LoaderFeed:
    """torch's DataLoader; its processes read ahead while the loop trains."""

    def __init__(self, split: Split, options: InputOptions, *, pin: bool) -> None:
        self._announced = _Announced()
        self._loader = DataLoader(
            Arrays(split),
            batch_size=None,  # the sampler gives whole batches
            sampler=self._announced,
            num_workers=options.workers,
            pin_memory=pin,
            persistent_workers=options.workers > 0 and options.persistent_workers,
            prefetch_factor=(options.prefetch_factor or 2) if options.workers else None,
        )
        self._batches: Iterator[Batch] = iter(())

    def open(self, batches: list[Tensor]) -> None:
        self._batches = iter(())  # ends the previous epoch's processes before new ones start
        self._announced.batches = batches
        self._batches = iter(self._loader)

    def read(self, index: Tensor) -> Batch:
        return next(self._batches)


def make_feed(split: Split, options: InputOptions, device: torch.device) -> Feed:
    """Return the feed of a spec. Memory is pinned if batches are copied to a CUDA device.

    A copy from pageable memory waits for the device. torch caches pinned memory and reuses it once the copy from
    it is done, so that steps allocate none.
    """
    if options.loader == "direct":
        copied = device.type == "cuda" and split.train_inputs.device.type == "cpu"
        return DirectFeed(split, allocate=_pinned if copied else None)
    return LoaderFeed(split, options, pin=options.pin_memory and device.type == "cuda")
