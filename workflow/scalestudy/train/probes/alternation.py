"""Blocks of the baseline and of the distributed training that alternate in the processes of one run.

Rank 0 trains a replica of the model by itself, as a single process would, while the others sleep; then all ranks
train. A round is baseline, distributed, distributed, baseline, so that a drift within a round affects both
equally. Rounds in which other processes used the cores are repeated (measure/quiet.py).
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
"""Steps that do not count after a change of turns: the caches hold the other model's data, or the process slept.
The first two steps of 1 ms took 37 and 11 % longer, the first step of 100 ms 1 to 3 %: one is enough for long
steps."""
SHORTEST_S = 0.02
"""Least seconds of a baseline block with short steps. With 5 steps of 1.2 ms the speedups of runs scatter by 18 %,
with 40 steps by 16 %, with 160 steps by 13 % (12 runs each); the remaining scatter is between runs."""
MOST_STEPS = 50
"""Most steps of such a block."""
SETTLE_STEPS = 4
"""Steps of the baseline before its first block; the shortest one gives the length of its steps."""


def alternate(trainer: Trainer) -> str | None:
    """Record alternating blocks of both. Returns why this was not possible, or None.

    All ranks return the same: rank 0 informs the others if it has no memory for the replica.
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
        gc.collect()  # frees the replica before anything else is measured
        if trainer.place.device.type == "cuda":
            torch.cuda.empty_cache()


def turn_steps(asked: int, step_s: float) -> int:
    """Return the steps of a block: the requested number, more if steps are short, fewer if they are long."""
    return max(block_steps(asked, step_s), min(MOST_STEPS, math.ceil(SHORTEST_S / step_s)))


def _lead(trainer: Trainer, turns: Turns, batches: Iterator[Tensor], alternation: Alternation) -> str | None:
    """Run rank 0's part: a baseline block before and after every two distributed blocks."""
    spec, recorder = trainer.spec, trainer.recorder
    needed_gib = max(0.0, trainer.gauges.free_at_rest_gib())
    refused = ""
    try:
        base = _make_base(trainer)
        own = base.open_extra(SETTLE_STEPS + _most_steps(trainer, alternation))
        times, _ = base.stepper.run_block(list(itertools.islice(own, SETTLE_STEPS)), meet=False)
        steps = turn_steps(spec.measure.probe_steps, float(times.sum(axis=1).min()))
        # Check now: once the others are in a collective, rank 0 can no longer report a lack of memory.
        if needed_gib > memory_left_gib(spec.host.memory_limit_gib, trainer.place):
            raise MemoryError(f"a step of the run needs {needed_gib:.2f} GiB more")
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
        refused = f"rank 0 has no memory for the baseline in addition to its own training: {what}"
    turns.give(Turn(recorder.steps, recorder.blocks, refused=refused))
    return refused or None


def _follow(trainer: Trainer, turns: Turns, batches: Iterator[Tensor]) -> str | None:
    """Run the other ranks' part: two blocks per turn, and sleep while rank 0 trains alone."""
    while (turn := _take(trainer, turns)).block_steps:
        _record_all(trainer, batches, turn.block_steps)
    return turn.refused or None


def _take(trainer: Trainer, turns: Turns) -> Turn:
    turn = turns.take()
    trainer.recorder.pass_over(steps=turn.steps, blocks=turn.blocks)
    return turn


def _make_base(trainer: Trainer) -> Trainer:
    """Return the baseline on this rank: its own model, optimizer and batches, with the data of the run."""
    spec = trainer.spec.of_the_base
    place = replace(trainer.place, world_size=1, local_world_size=1)
    base = Trainer(spec, place, Strategy(spec, place), trainer.recorder, trainer.gauges, split=trainer.split)
    base.stepper.model.train()
    return base


def _most_steps(trainer: Trainer, alternation: Alternation) -> int:
    """Return the most steps of one side, lead-ins included."""
    most = max(MOST_STEPS, trainer.spec.measure.probe_steps)
    return 2 * MOST_TIMES * alternation.rounds * (LEAD_IN_STEPS + most)


def _record_all(trainer: Trainer, batches: Iterator[Tensor], steps: int) -> float:
    """Record two distributed blocks. Returns the share of time without a core (maximum over ranks and blocks)."""
    waited = max(_record(trainer, batches, ALTERNATING, steps) for _ in range(2))
    return largest_over_ranks(trainer, waited)


def _record(trainer: Trainer, batches: Iterator[Tensor], phase: str, steps: int) -> float:
    """Record a block. Returns the share of its time in which this rank waited for a core that others used."""
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
