"""Rounds of blocks: every kind once a round, in an order that is shuffled anew, the same on all ranks.

Neighbours in time are compared with each other, so that a machine that drifts does not pose as communication.
"""

import contextlib
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from scalestudy.train.loop import Trainer


@dataclass(frozen=True)
class Kind:
    """One kind of block: its phase in the record, what surrounds it, what is called in every step."""

    phase: str
    around: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
    after_step: Callable[[], None] | None = None
    ddp_s: Callable[[], np.ndarray] | None = None
    """DDP_COLUMNS of the block's steps, asked for after it."""
    closed: Callable[[int, int], None] | None = None
    """Called after a block with its number and its first step."""


def run_rounds(trainer: Trainer, kinds: list[Kind], *, settle: int) -> None:
    """Record `measure.probe_rounds` rounds of these kinds, after `settle` steps that are not recorded."""
    measure = trainer.spec.measure
    batches = trainer.open_extra(settle + measure.probe_rounds * len(kinds) * measure.probe_steps)
    shuffle = random.Random(trainer.spec.seed)
    trainer.stepper.model.train()
    trainer.stepper.run_block(list(itertools.islice(batches, settle)))
    for _ in range(measure.probe_rounds):
        for kind in shuffle.sample(kinds, len(kinds)):
            _run(trainer, kind, list(itertools.islice(batches, measure.probe_steps)))


def _run(trainer: Trainer, kind: Kind, batches: list[Tensor]) -> None:
    recorder = trainer.recorder
    block, first = recorder.blocks, recorder.steps
    with kind.around():
        times, losses = trainer.stepper.run_block(batches, after_step=kind.after_step)
    recorder.add_block(
        epoch=0,
        phases=[kind.phase] * len(batches),
        times_s=times,
        samples=trainer.spec.batch_per_rank,
        losses=losses,
        ddp_s=kind.ddp_s() if kind.ddp_s else None,
        state={},
    )
    if kind.closed:
        kind.closed(block, first)
