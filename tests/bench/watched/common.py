"""An MLP on random vectors, and a stopwatch: when each update ended, and how long each batch was waited for."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

SIZES = {"1ms": (256, 96), "20ms": (1024, 128)}
"""Width and batch; a step takes about so long on one core."""
FEATURES, CLASSES = 64, 10


class Stopwatch:
    """Stamps and waits in seconds."""

    def __init__(self) -> None:
        self.stamps: list[float] = []
        self.waits: list[float] = []

    def stamp(self) -> None:
        """An update has ended."""
        self.stamps.append(time.perf_counter())

    def write(self, path: Path) -> None:
        """Both, as JSON."""
        path.write_text(json.dumps({"stamps": self.stamps, "waits": self.waits}), encoding="utf-8")


class TimedLoader(DataLoader[Any]):
    """A DataLoader whose user reads the clock before and after each batch."""

    stopwatch: Stopwatch

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        batches = super().__iter__()
        while True:
            begin = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                return
            self.stopwatch.waits.append(time.perf_counter() - begin)
            yield batch


def arguments(*flags: str) -> Any:
    """Of a script. flags: its own switches."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="20ms")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--stopwatch", type=Path, required=True)
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def network(size: str) -> nn.Module:
    """Its parameters are the same in every script."""
    torch.manual_seed(7)
    torch.set_num_threads(1)
    width, _ = SIZES[size]
    hidden = [module for _ in range(2) for module in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), *hidden, nn.Linear(width, CLASSES))


def dataset(size: str, steps: int) -> TensorDataset:
    """Samples for this number of steps."""
    _, batch = SIZES[size]
    return TensorDataset(torch.randn(batch * steps, FEATURES), torch.randint(CLASSES, (batch * steps,)))


def loader(size: str, steps: int, stopwatch: Stopwatch, **changes: Any) -> TimedLoader:
    """An epoch of this number of steps."""
    _, batch = SIZES[size]
    made = TimedLoader(dataset(size, steps), batch_size=batch, **changes)
    made.stopwatch = stopwatch
    return made


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy."""
    return nn.functional.cross_entropy(logits, targets)
