"""The steps of one run after the warm-up: step time, distribution, parts, and steadiness."""

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.run.grid import Columns, Grid, firsts
from scalestudy.analyse.run.steady import find_jump, find_modes
from scalestudy.errors import UserError
from scalestudy.measure.batch_means import batch_means, mser5
from scalestudy.record.observation import PART_COLUMNS, TRAINING_PHASES
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import Steadiness

PERCENTILES = {"step_time_p50_s": 0.50, "step_time_p95_s": 0.95, "step_time_p99_s": 0.99}
COLUMNS = (
    *("warmup_steps", "steady_steps", "step_time_s", *PERCENTILES),
    *("step_time_cv", "step_time_half_width", *PART_COLUMNS, "rank_skew_s"),
    *("steadiness", "level_change", "level_changed_at_step", "level_changed_after_steps"),
    *("fast_mode_s", "slow_mode_s", "slow_mode_share", "throughput_samples_per_s"),
)


def measured(observation: Observation, *, confidence: float) -> dict[str, Any]:
    """Returns COLUMNS of a run; nan if there are no steady steps."""
    spec = observation.record.spec
    return describe(steady_steps(observation), global_batch=spec.global_batch, confidence=confidence)


def describe(steady: Grid, *, global_batch: int, confidence: float) -> dict[str, Any]:
    """Returns COLUMNS from steady_steps; nan if there are none.

    The mean step time comes from whole blocks: seconds of the block, maximum over ranks, summed and divided by
    steps. Taking the maximum over ranks for each step would count one hiccup twice: the late rank's long step, and
    the next step of the others, which wait for it. The distribution (p50, p95, p99) is of single steps, maximum
    over ranks. Parts are means over steps and ranks. step_time_half_width is relative and from this run alone, by
    batch means.
    """
    if not len(steady):
        return dict.fromkeys(COLUMNS, nan) | {"steadiness": Steadiness.NONE}
    times_s, counts = block_times(steady)
    step_time = float(times_s.sum() / counts.sum())
    kept = steady["step_time_s"].max(axis=0)
    numbers = steady.of_step("step")
    return {
        "warmup_steps": int(numbers[0]),
        "steady_steps": len(kept),
        "step_time_s": step_time,
        **dict(zip(PERCENTILES, np.quantile(kept, list(PERCENTILES.values())).tolist(), strict=True)),
        "step_time_cv": float(kept.std(ddof=1) / kept.mean()) if len(kept) > 1 else nan,
        "step_time_half_width": batch_means(kept, confidence=confidence).half_width,
        **{part: float(steady[part].mean()) for part in PART_COLUMNS},
        "rank_skew_s": float((kept - steady["step_time_s"].min(axis=0)).mean()),
        **steadiness(kept, numbers),
        "throughput_samples_per_s": global_batch / step_time,
    }


def training_steps(observation: Observation) -> pd.DataFrame:
    """Returns steps of training, without probes; raises UserError as `is_training` does."""
    return observation.steps[is_training(observation, Columns(observation.tables["steps"]))]


def is_training(observation: Observation, steps: Columns) -> np.ndarray:
    """Returns (rows,): which steps of an observation are training, and not probes.

    Raises UserError naming the run if ranks differ in their steps, a time is negative, or no step took any time.
    """
    training = steps.among("phase", TRAINING_PHASES)
    run = observation.record.run_id
    ranks, counts = np.unique(steps["rank"][training], return_counts=True)
    if len(set(counts)) > 1:
        least, most = counts.argmin(), counts.argmax()
        raise UserError(
            f"{run}: rank {ranks[least]} reports {counts[least]} steps, rank {ranks[most]} {counts[most]};"
            " a step's time is the maximum over all ranks, so it is unknown. Move the run's directory away and run"
            " the study again"
        )
    if any((steps[name][training] < 0).any() for name in (*PART_COLUMNS, "step_time_s")):
        raise UserError(f"{run}: a step has a negative time: the clock went backwards. Measure the run again")
    if training.any() and not steps["step_time_s"][training].any():
        raise UserError(f"{run}: every step has a time of zero: the clock did not move. Measure the run again")
    return training


def steady_steps(observation: Observation, steps: Columns | None = None) -> Grid:
    """Returns the steps after the warm-up; none if the run is not ok or too short.

    If the warm-up ends within a block, counting starts there. steps: of the observation, if they were read before.
    """
    steps = Columns(observation.tables["steps"]) if steps is None else steps
    training = Grid.of(steps, is_training(observation, steps))
    if observation.record.outcome != "ok" or not len(training):
        return training.where(np.zeros(len(training), dtype=bool))
    whole = training.where(training.of_step("phase") != "tail")
    cut = max(mser5(whole["step_time_s"].max(axis=0)), observation.record.spec.measure.warmup_steps)
    return whole.where(np.arange(len(whole)) >= cut)


QUANTILES = np.append(np.linspace(0, 0.98, 50), [0.99, 1.0])
"""Every second per cent, and the last ones: the long steps are the most informative part of the distribution."""


def step_quantiles(steady: Grid) -> dict[str, np.ndarray]:
    """Returns quantile (QUANTILES) and step_time_s (maximum over ranks) of steady_steps; empty without any."""
    quantiles = QUANTILES if len(steady) else QUANTILES[:0]
    times_s = np.quantile(steady["step_time_s"].max(axis=0), quantiles) if len(steady) else quantiles
    return {"quantile": quantiles, "step_time_s": times_s}


def block_times(steady: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each block its time in seconds, maximum over ranks, and its number of steps; not empty."""
    begins = firsts(steady.of_step("block"))
    times_s = np.add.reduceat(steady["step_time_s"], begins, axis=1).max(axis=0)
    return times_s, np.diff(begins, append=len(steady))


def block_step_times(steady: Grid) -> list[float]:
    """Returns step times in seconds of the blocks of steady_steps, in order."""
    if not len(steady):
        return []
    times_s, counts = block_times(steady)
    step_times_s: list[float] = (times_s / counts).tolist()
    return step_times_s


def steadiness(step_times_s: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    """Returns from COLUMNS whether one mean describes the steps, and otherwise the deviation.

    numbers: of the steps. A series with a change of level has two kinds of steps too, and is reported as a change
    of level.
    """
    jump = find_jump(step_times_s)
    modes = None if jump else find_modes(step_times_s)
    kind = Steadiness.TWO_MODES if modes else Steadiness.STEADY
    return {
        "steadiness": Steadiness.LEVEL_CHANGE if jump else kind,
        "level_change": jump.factor - 1 if jump else 0.0,
        "level_changed_at_step": float(numbers[jump.at]) if jump else nan,
        "level_changed_after_steps": jump.at if jump else nan,
        "fast_mode_s": modes.fast_s if modes else nan,
        "slow_mode_s": modes.slow_s if modes else nan,
        "slow_mode_share": modes.slow_share if modes else nan,
    }
