"""Blocks of the base case and of the distributed training that take turns in the processes of one launch.

Rank 0 trains a replica of the model by itself, as a process of its own would, while the others sleep; then all
train. A round is base case, distributed, distributed, base case: a drift within a round weighs alike on both.
Rounds in which others took the cores are made again (measure/quiet.py).
"""

import gc
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from scalestudy.errors import first_line
from scalestudy.measure.quiet import MOST_TIMES, is_quiet
from scalestudy.record.observation import ALTERNATING, ALTERNATING_BASE, LEAD_IN
from scalestudy.study.spec import Alternation
from scalestudy.train.loop import Trainer
from scalestudy.train.place.memory_limit import is_out_of_memory, memory_left_gib
from scalestudy.train.probes.rounds import block_steps, largest_over_ranks
from scalestudy.train.probes.turns import Turn, Turns
from scalestudy.train.strategies.base import Strategy

LEAD_IN_STEPS = 2
"""After a change of turns: the caches are the other model's, or those of a process that slept. The first two steps
of a millisecond took 37 and 11 % longer, the first of 100 ms 1 to 3 %, so that one is enough for long steps."""
SHORTEST_S = 0.02
"""Seconds of a block of the base case where steps are short. With 5 steps of 1.2 ms the speedups of launches
scatter by 18 %, with 40 by 16 and with 160 by 13 % (12 launches each): what is left is between launches."""
MOST_STEPS = 50
"""Of such a block."""
SETTLE_STEPS = 4
"""Of the base case before its first block; the shortest of them says how long its steps are."""


def alternate(trainer: Trainer) -> str | None:
    """Record blocks of both in turns: why that could not be done, None where it was.

    Every rank comes to the same end: rank 0 tells the others where there is no memory for the replica.
    """
    turns, alternation = Turns(), trainer.spec.alternation
    assert alternation is not None
    batches = trainer.open_extra(_most_steps(trainer, alternation))
    trainer.stepper.model.train()
    try:
        if trainer.place.rank == 0:
            return _lead(trainer, turns, batches, alternation)
        return _follow(trainer, turns, batches)
    finally:
        gc.collect()  # the replica goes before anything else is measured
        if trainer.place.device.type == "cuda":
            torch.cuda.empty_cache()


def turn_steps(asked: int, step_s: float) -> int:
    """Steps of a block: as many as are asked for, more where it would be over in no time, fewer where long."""
    return max(block_steps(asked, step_s), min(MOST_STEPS, math.ceil(SHORTEST_S / step_s)))


def _lead(trainer: Trainer, turns: Turns, batches: Iterator[Tensor], alternation: Alternation) -> str | None:
    """Rank 0: the base case once before and once after every two distributed blocks."""
    spec, recorder = trainer.spec, trainer.recorder
    needed_gib = max(0.0, trainer.gauges.free_at_rest_gib())
    refused = ""
    try:
        base = _make_base(trainer)
        own = base.open_extra(SETTLE_STEPS + _most_steps(trainer, alternation))
        times, _ = base.stepper.run_block(list(itertools.islice(own, SETTLE_STEPS)), meet=False)
        steps = turn_steps(spec.measure.probe_steps, float(times.sum(axis=1).min()))
        # Once the others are in a collective it is too late to say that there is no memory.
        if needed_gib > memory_left_gib(spec.host.memory_limit_gib, trainer.place):
            raise MemoryError(f"a step of the launch needs {needed_gib:.2f} GiB more")
        quiet, left = 0, MOST_TIMES * alternation.rounds
        while quiet < alternation.rounds and left:
            before = _record(base, own, ALTERNATING_BASE, steps)
            turns.give(Turn(recorder.steps, recorder.blocks, steps))
            waited = _record_all(trainer, batches, steps)
            after = _record(base, own, ALTERNATING_BASE, steps)
            quiet += int(is_quiet(np.array([before, waited, after])).all())
            left -= 1
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        what = first_line(error)
        refused = f"rank 0 has no memory for the base case beside its own training: {what}"
    turns.give(Turn(recorder.steps, recorder.blocks, refused=refused))
    return refused or None


def _follow(trainer: Trainer, turns: Turns, batches: Iterator[Tensor]) -> str | None:
    """The other ranks: two blocks a turn, and asleep while rank 0 is alone."""
    while (turn := _take(trainer, turns)).block_steps:
        _record_all(trainer, batches, turn.block_steps)
    return turn.refused or None


def _take(trainer: Trainer, turns: Turns) -> Turn:
    turn = turns.take()
    trainer.recorder.pass_over(steps=turn.steps, blocks=turn.blocks)
    return turn


def _make_base(trainer: Trainer) -> Trainer:
    """The base case on this rank: its own model, optimizer and batches, the data of the launch."""
    spec = trainer.spec.of_the_base
    place = replace(trainer.place, world_size=1, local_world_size=1)
    base = Trainer(spec, place, Strategy(spec, place), trainer.recorder, trainer.gauges, split=trainer.split)
    base.stepper.model.train()
    return base


def _most_steps(trainer: Trainer, alternation: Alternation) -> int:
    """Steps of one side, lead-ins included."""
    most = max(MOST_STEPS, trainer.spec.measure.probe_steps)
    return 2 * MOST_TIMES * alternation.rounds * (LEAD_IN_STEPS + most)


def _record_all(trainer: Trainer, batches: Iterator[Tensor], steps: int) -> float:
    """Two distributed blocks: the largest share that any rank waited for a core, the same on all ranks."""
    waited = max(_record(trainer, batches, ALTERNATING, steps) for _ in range(2))
    return largest_over_ranks(trainer, waited)


def _record(trainer: Trainer, batches: Iterator[Tensor], phase: str, steps: int) -> float:
    """Record a block: the share of it in which this rank waited for a core that others had."""
    lead_in = LEAD_IN_STEPS if steps >= trainer.spec.measure.probe_steps else 1
    begin = trainer.gauges.core_wait.now()
    times, losses = trainer.stepper.run_block(list(itertools.islice(batches, lead_in + steps)))
    share = trainer.gauges.core_wait.share(begin, step_s=float(times.sum()))
    trainer.recorder.add_block(
        epoch=0,
        phases=[LEAD_IN] * lead_in + [phase] * steps,
        times_s=times,
        samples=trainer.spec.batch_per_rank,
        losses=losses,
        state={"core_wait_share": share},
    )
    return share
