"""The speedup within one run: the baseline and all ranks train in turns in its processes."""

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.run.grid import Columns, Grid
from scalestudy.analyse.run.steps import block_step_times
from scalestudy.measure.quiet import counted_rounds, is_quiet
from scalestudy.record.observation import ALTERNATING, ALTERNATING_BASE
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import Turns

NOTHING: dict[str, Any] = {
    "turns": Turns.NONE,
    "speedup_in_launch": nan,
    "alternating_blocks": nan,
    "contended_rounds": nan,
}
BLOCKS = 2  # for each side of a round


def alternation_of(observation: Observation, steps: Columns | None = None) -> dict[str, Any]:
    """Returns columns of NOTHING for a run: ratio of throughputs, its blocks per side, and contended rounds.

    As in a run, the time of a block is the maximum over ranks. The median of the blocks of each side is used:
    other activity of a host makes single blocks longer for a moment, and more often those of several ranks. Rounds
    in which other processes used the cores do not count (measure/quiet.py). steps: of the observation, if they
    were read before.
    """
    record = observation.record
    alternation = record.spec.alternation
    if alternation is None or record.outcome != "ok":
        return NOTHING
    if record.totals.alternation_failed:
        return NOTHING | {"turns": Turns.NO_MEMORY}
    steps = Columns(observation.tables["steps"]) if steps is None else steps
    turns = [Grid.of(steps, steps.among("phase", (phase,))) for phase in (ALTERNATING, ALTERNATING_BASE)]
    if not all(map(len, turns)):
        return NOTHING
    waits = np.maximum(*(_wait_shares(observation.blocks, phase) for phase in (ALTERNATING, ALTERNATING_BASE)))
    counted = np.repeat(counted_rounds(waits), BLOCKS)
    mine, base = (np.array(block_step_times(of_side))[counted] for of_side in turns)
    samples = record.spec.global_batch / alternation.batch_per_rank
    return {
        "turns": Turns.MADE if is_quiet(waits).any() else Turns.CONTENDED,
        "speedup_in_launch": float(samples * np.median(base) / np.median(mine)),
        "alternating_blocks": float(len(mine)),
        "contended_rounds": float((~is_quiet(waits)).sum()),
    }


def _wait_shares(blocks: pd.DataFrame, phase: str) -> np.ndarray:
    """Returns the maximum over ranks and over the blocks of a side, for each round."""
    of_side = blocks[blocks["phase"] == phase].sort_values("block")
    by_block = np.array(of_side.groupby("block")["core_wait_share"].max(), dtype=float)
    shares: np.ndarray = by_block.reshape(-1, BLOCKS).max(axis=1)
    return shares
