"""The reference: the loop of the PyTorch tutorial, and DistributedDataParallel where there are several ranks."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bench.task import Contender, Task, loop_of


def prepare(task: Task) -> Contender:
    """As a user would write it; with micro-batches where the case has them."""
    model, optimizer = task.build()
    wrapped = DistributedDataParallel(model) if task.place.world_size > 1 else model
    loop = loop_of if task.case.parts == 1 else accumulating_loop_of
    return Contender(loop(task, wrapped, optimizer), model, optimizer)


def accumulating_loop_of(task: Task, model: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[[int], None]:
    """`loop_of` with a batch in parts; DDP sums the gradients in the backward pass of the last one."""
    epochs = itertools.count(1)
    parts, inputs, targets, loss_of = task.case.parts, task.inputs, task.targets, task.loss
    no_sync = model.no_sync if task.place.world_size > 1 else contextlib.nullcontext

    def run(steps: int) -> None:
        model.train()
        for index in task.batches(steps, next(epochs)):
            *first, last = index.chunk(parts)
            with no_sync():
                for part in first:
                    loss = loss_of(model(inputs[part]), targets[part]) / parts
                    loss.backward()
            loss = loss_of(model(inputs[last]), targets[last]) / parts
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return run
