"""Lightning Fabric: the hand-written loop with its model, optimizer and backward wrapped."""

from __future__ import annotations

import itertools

import torch.nn.functional as F
from lightning.fabric import Fabric

from bench.task import Contender, Task


def prepare(task: Task) -> Contender:
    """The data stay as they are: Fabric takes a loop that indexes a tensor as well as one over a DataLoader."""
    world = task.place.world_size
    fabric = Fabric(accelerator="cpu", devices=world, strategy="ddp" if world > 1 else "auto", precision="32-true")
    fabric.launch()
    model, optimizer = task.build()
    wrapped, wrapped_optimizer = fabric.setup(model, optimizer)
    epochs = itertools.count(1)

    def run(steps: int) -> None:
        wrapped.train()
        for index in task.batches(steps, next(epochs)):
            inputs, targets = task.inputs[index], task.targets[index]
            loss = F.cross_entropy(wrapped(inputs), targets)
            fabric.backward(loss)
            wrapped_optimizer.step()
            wrapped_optimizer.zero_grad(set_to_none=True)

    return Contender(run, model, optimizer)
