"""Our loop and the hand-written one around the same model, wrapper and optimizer: nothing but the loop differs.

Models that are set up apart lie apart in memory, and at a millisecond a step that alone is worth some per cent.
"""

from __future__ import annotations

import itertools

from scalestudy.train.loop import Trainer

from bench.peers.handwritten import accumulating_loop_of
from bench.peers.ours import make_trainer, train_steps
from bench.task import Contender, Task, loop_of

_TRAINERS: dict[int, Trainer] = {}


def _trainer(task: Task) -> Trainer:
    """The one of this task."""
    if id(task) not in _TRAINERS:
        _TRAINERS[id(task)] = make_trainer(task)
    return _TRAINERS[id(task)]


def hand_written(task: Task) -> Contender:
    """The loop of the tutorial, around the trainer's model."""
    trainer = _trainer(task)
    optimizer = trainer.stepper.update.optimizer
    loop = loop_of if task.case.parts == 1 else accumulating_loop_of
    return Contender(loop(task, trainer.stepper.model, optimizer), trainer.plain, optimizer)


def ours(task: Task) -> Contender:
    """The trainer itself, with everything that is on in a study."""
    trainer, epochs = _trainer(task), itertools.count(1)
    return Contender(
        lambda steps: train_steps(trainer, next(epochs), steps), trainer.plain, trainer.stepper.update.optimizer
    )
