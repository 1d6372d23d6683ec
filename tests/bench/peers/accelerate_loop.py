"""Hugging Face Accelerate: the hand-written loop with its model, optimizer and backward wrapped.

What cannot be switched off: version 1.15 looks along sys.path at every step, in backward and in the optimizer, for
a module (lomo_optim) that few have; and it asks for the signature of the optimizer's zero_grad.
"""

from __future__ import annotations

from accelerate import Accelerator

from bench.task import Contender, Task, loop_of


def prepare(task: Task) -> Contender:
    """The data stay as they are: no loader is given to Accelerate, so that none is wrapped or synchronises."""
    accelerator = Accelerator(cpu=True, mixed_precision="no")
    assert accelerator.num_processes == task.place.world_size
    model, optimizer = task.build()
    wrapped, wrapped_optimizer = accelerator.prepare(model, optimizer)
    return Contender(loop_of(task, wrapped, wrapped_optimizer, backward=accelerator.backward), model, optimizer)
