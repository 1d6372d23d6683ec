"""Rounds of blocks. Each round has one block of every kind, in a random order that is the same on all ranks.

Blocks close in time are compared, so that a drift of the machine is not mistaken for communication. Rounds end
when the difference between the first two kinds is known precisely enough, or after `measure.probe_rounds`.
"""

import contextlib
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from scalestudy.measure.stopping import rounds_suffice
from scalestudy.train.loop import Trainer

BLOCK_S = 0.15
"""Target seconds of a block with long steps; the host drifts more slowly than this."""
FEWEST_STEPS = 3


@dataclass(frozen=True)
class Kind:
    """A kind of block: its phase in the record, the context of the block, and a function to call in every step."""

    phase: str
    around: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
    after_step: Callable[[], None] | None = None
    ddp_s: Callable[[], np.ndarray] | None = None
    """Returns DDP_COLUMNS of the block's steps; called after the block."""
    closed: Callable[[int, int], None] | None = None
    """Called after a block with the block's number and the number of its first step."""


def block_steps(most: int, step_s: float) -> int:
    """Return the steps of a block: `most`, or fewer if steps are long."""
    return min(most, max(FEWEST_STEPS, math.ceil(BLOCK_S / step_s)))


def run_rounds(trainer: Trainer, kinds: list[Kind], *, settle: int) -> None:
    """Record at most `measure.probe_rounds` rounds of these kinds, after `settle` steps that are not recorded.

    It stops earlier if the difference of the first two kinds is known to `measure.half_width` of a step on every
    rank.
    """
    measure = trainer.spec.measure
    batches = trainer.open_extra(settle + measure.probe_rounds * len(kinds) * measure.probe_steps)
    shuffle = random.Random(trainer.spec.seed)
    trainer.stepper.model.train()
    settled, _ = trainer.stepper.run_block(list(itertools.islice(batches, settle)))
    step_s = largest_over_ranks(trainer, float(settled.sum(axis=1).min()))
    steps = block_steps(measure.probe_steps, step_s)
    found_s: dict[str, list[float]] = {kind.phase: [] for kind in kinds}
    for _ in range(measure.probe_rounds):
        for kind in shuffle.sample(kinds, len(kinds)):
            found_s[kind.phase].append(_run(trainer, kind, list(itertools.islice(batches, steps))))
        first, second = (np.array(found_s[kind.phase]) for kind in kinds[:2])
        here = rounds_suffice(first, second, half_width=measure.half_width, most=measure.probe_rounds)
        if not largest_over_ranks(trainer, float(not here)):
            break


def largest_over_ranks(trainer: Trainer, value: float) -> float:
    """Return the maximum over ranks, so that every rank makes the same steps."""
    asked = torch.tensor([value], dtype=torch.float64, device=trainer.place.device)
    return float(trainer.strategy.all_reduce_max(asked).item())


def _run(trainer: Trainer, kind: Kind, batches: list[Tensor]) -> float:
    """Record a block. Returns its mean step time on this rank, in seconds."""
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
    return float(times.sum(axis=1).mean())
