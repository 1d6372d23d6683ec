"""Lightning's Trainer in its `barebones` mode, which its authors made for measuring what the Trainer itself costs.

barebones switches off checkpoints, logger, progress bar, model summary, sanity validation, profiler, `self.log`.
What it leaves on and no argument stops, in version 2.6: with several ranks, a broadcast before every batch to tell
whether one was asked to end (github.com/Lightning-AI/pytorch-lightning/pull/21640). `prepare` takes it out, since
no other loop here does that; `prepare_unpatched` does not.
"""

from __future__ import annotations

import itertools
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import lightning
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.task import Contender, Task


class Module(lightning.LightningModule):
    """The network, its loss, and the optimizer that was built for it."""

    def __init__(self, network: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        super().__init__()
        self.network = network
        self._optimizer = optimizer

    def training_step(self, batch: tuple[Tensor, Tensor], _index: int) -> Tensor:
        inputs, targets = batch
        return F.cross_entropy(self.network(inputs), targets)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return self._optimizer


@dataclass(frozen=True)
class Batches:
    """Whole batches, cut when they are requested. The Trainer takes any iterable: no DataLoader is in the way."""

    task: Task
    indices: list[Tensor]

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for index in self.indices:
            yield self.task.inputs[index], self.task.targets[index]


def prepare(task: Task) -> Contender:
    """Without the broadcast before every batch."""
    return _prepare(task, broadcast=False)


def prepare_unpatched(task: Task) -> Contender:
    """As its arguments can have it."""
    return _prepare(task, broadcast=True)


def _prepare(task: Task, *, broadcast: bool) -> Contender:
    """A Trainer cannot be stepped: a call of `run` makes one and lets it fit until it has made its steps."""
    logging.getLogger("lightning").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    world = task.place.world_size
    model, optimizer = task.build()
    module = Module(model, optimizer)
    epochs = itertools.count(1)

    def run(steps: int) -> None:
        trainer = lightning.Trainer(
            accelerator="cpu",
            devices=world,
            strategy="ddp" if world > 1 else "auto",
            precision="32-true",
            barebones=True,
            max_steps=steps,
            max_epochs=-1,
            use_distributed_sampler=False,
        )
        if not broadcast:
            trainer.fit_loop.epoch_loop._broadcast_sigterm_tensor = lambda: None
        trainer.fit(module, train_dataloaders=Batches(task, task.batches(steps, next(epochs))))

    return Contender(run, model, optimizer)
