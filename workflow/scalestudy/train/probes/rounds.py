"""Rounds of blocks: every kind once a round, in an order that is shuffled anew, the same on all ranks.

Neighbours in time are compared with each other, so that a machine that drifts does not pose as communication.
Rounds end where the difference of the first kind from the second is known, or after `measure.probe_rounds`.
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
"""Seconds of a block where steps are long: a drift of the host takes longer."""
FEWEST_STEPS = 3


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


def block_steps(most: int, step_s: float) -> int:
    """Steps of a block: as many as the study has for probes, fewer where they are long."""
    return min(most, max(FEWEST_STEPS, math.ceil(BLOCK_S / step_s)))


def run_rounds(trainer: Trainer, kinds: list[Kind], *, settle: int) -> None:
    """Record at most `measure.probe_rounds` rounds of these kinds, after `settle` steps that are not recorded.

    Fewer where the difference of the first two kinds is known to `measure.half_width` of a step on every rank.
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
    """So that every rank makes the same steps."""
    asked = torch.tensor([value], dtype=torch.float64, device=trainer.place.device)
    return float(trainer.strategy.all_reduce_max(asked).item())


def _run(trainer: Trainer, kind: Kind, batches: list[Tensor]) -> float:
    """Record a block: its mean step time on this rank, in seconds."""
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
