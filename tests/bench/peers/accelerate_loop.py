"""Hugging Face Accelerate: the hand-written loop with its model, optimizer and backward wrapped.

What cannot be switched off: version 1.15 looks along sys.path at every step, in backward and in the optimizer, for
a module (lomo_optim) that few have; and it asks for the signature of the optimizer's zero_grad.
"""

from __future__ import annotations

import itertools

import torch.nn.functional as F
from accelerate import Accelerator

from bench.task import Contender, Task


def prepare(task: Task) -> Contender:
    """The data stay as they are: no loader is given to Accelerate, so that none is wrapped or synchronises."""
    accelerator = Accelerator(cpu=True, mixed_precision="no")
    assert accelerator.num_processes == task.place.world_size
    model, optimizer = task.build()
    wrapped, wrapped_optimizer = accelerator.prepare(model, optimizer)
    epochs = itertools.count(1)

    def run(steps: int) -> None:
        wrapped.train()
        for index in task.batches(steps, next(epochs)):
            inputs, targets = task.inputs[index], task.targets[index]
            loss = F.cross_entropy(wrapped(inputs), targets)
            accelerator.backward(loss)
            wrapped_optimizer.step()
            wrapped_optimizer.zero_grad(set_to_none=True)

    return Contender(run, model, optimizer)
