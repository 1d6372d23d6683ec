"""The reference: the loop of the PyTorch tutorial, and DistributedDataParallel where there are several ranks."""

from __future__ import annotations

import itertools

import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from bench.task import Contender, Task


def prepare(task: Task) -> Contender:
    """Nothing around the loop: no clock, no record, no look at the loss."""
    model, optimizer = task.build()
    wrapped = DistributedDataParallel(model) if task.place.world_size > 1 else model
    epochs = itertools.count(1)

    def run(steps: int) -> None:
        wrapped.train()
        for index in task.batches(steps, next(epochs)):
            inputs, targets = task.inputs[index], task.targets[index]
            loss = F.cross_entropy(wrapped(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return Contender(run, model, optimizer)
