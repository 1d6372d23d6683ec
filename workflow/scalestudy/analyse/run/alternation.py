"""The speedup within one launch: the steps of the base case and of all ranks took turns in its processes."""

from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.grid import Grid
from scalestudy.analyse.run.steps import block_step_times
from scalestudy.record.observation import ALTERNATING, ALTERNATING_BASE, Observation
from scalestudy.registry.codes import Turns

NOTHING: dict[str, Any] = {"turns": Turns.NONE, "speedup_in_launch": nan, "alternating_blocks": nan}


def alternation_of(observation: Observation) -> dict[str, Any]:
    """Columns of NOTHING for a launch: ratio of throughputs, and blocks of each side that it is made of.

    As in a launch, seconds of a block are the largest over ranks. Of the blocks of a side the median is taken:
    what else a host does for a moment makes single blocks longer, and more often those of several ranks.
    """
    record, steps = observation.record, observation.steps
    alternation = record.spec.alternation
    if alternation is None or record.outcome != "ok":
        return NOTHING
    if record.totals.alternation_failed:
        return NOTHING | {"turns": Turns.NO_MEMORY}
    turns = [steps[steps["phase"] == phase] for phase in (ALTERNATING, ALTERNATING_BASE)]
    if not all(map(len, turns)):
        return NOTHING
    mine, base = (block_step_times(Grid.of(of_side)) for of_side in turns)
    samples = record.spec.global_batch / alternation.batch_per_rank
    speedup = float(samples * np.median(base) / np.median(mine))
    return {"turns": Turns.MADE, "speedup_in_launch": speedup, "alternating_blocks": float(len(mine))}
