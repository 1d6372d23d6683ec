"""Lightning Fabric: the hand-written loop with its model, optimizer and backward wrapped."""

from __future__ import annotations

from lightning.fabric import Fabric

from bench.task import Contender, Task, loop_of


def prepare(task: Task) -> Contender:
    """The data stay as they are: Fabric takes a loop that indexes a tensor as well as one over a DataLoader."""
    world = task.place.world_size
    fabric = Fabric(accelerator="cpu", devices=world, strategy="ddp" if world > 1 else "auto", precision="32-true")
    fabric.launch()
    model, optimizer = task.build()
    wrapped, wrapped_optimizer = fabric.setup(model, optimizer)
    return Contender(loop_of(task, wrapped, wrapped_optimizer, backward=fabric.backward), model, optimizer)
