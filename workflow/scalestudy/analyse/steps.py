"""The steps of one launch once its warm-up is dropped: step time, distribution, parts, and steadiness."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.steady import Jump, find_jump, find_modes
from scalestudy.errors import UserError
from scalestudy.measure.batch_means import batch_means
from scalestudy.measure.steady import mser5
from scalestudy.record.observation import PART_COLUMNS, TRAINING_PHASES, Observation

NOTHING: dict[str, Any] = {
    "warmup_steps": nan,
    "steady_steps": nan,
    "step_time_s": nan,
    "step_time_p50_s": nan,
    "step_time_p95_s": nan,
    "step_time_p99_s": nan,
    "step_time_cv": nan,
    "step_time_half_width": nan,
    **dict.fromkeys(PART_COLUMNS, nan),
    "rank_skew_s": nan,
    "steadiness": "",
    "level_change": nan,
    "level_changed_at_step": nan,
    "throughput_samples_per_s": nan,
}


def measured(observation: Observation, *, confidence: float) -> dict[str, Any]:
    """Columns of NOTHING of a launch; nan where nothing steady was measured."""
    spec = observation.record.spec
    return describe(steady_steps(observation), global_batch=spec.global_batch, confidence=confidence)


def describe(steady: pd.DataFrame, *, global_batch: int, confidence: float) -> dict[str, Any]:
    """Columns of NOTHING from steady_steps; nan where there are none.

    The mean step time comes from whole blocks: seconds of the block, the largest over ranks, summed and divided
    by steps. Taking the maximum over ranks step by step instead would count one hiccup twice: the late rank's
    long step, and the next step of the others, who wait for it. The distribution (p50, p95, p99) is of single
    steps, the maximum over ranks. Parts are means over steps and ranks. step_time_half_width is relative and of
    this launch alone, by batch means.
    """
    if steady.empty:
        return dict(NOTHING)
    blocks = block_times(steady)
    step_time = float(blocks["time_s"].sum() / blocks["steps"].sum())
    by_step = steady.groupby("step")["step_time_s"]
    slowest = by_step.max()
    kept = slowest.to_numpy()
    jump = find_jump(kept)
    return {
        "warmup_steps": int(steady["step"].min()),
        "steady_steps": len(kept),
        "step_time_s": step_time,
        "step_time_p50_s": float(np.quantile(kept, 0.50)),
        "step_time_p95_s": float(np.quantile(kept, 0.95)),
        "step_time_p99_s": float(np.quantile(kept, 0.99)),
        "step_time_cv": float(kept.std(ddof=1) / kept.mean()) if len(kept) > 1 else nan,
        "step_time_half_width": batch_means(kept, confidence=confidence).half_width,
        **{part: float(steady[part].mean()) for part in PART_COLUMNS},
        "rank_skew_s": float((slowest - by_step.min()).mean()),
        "steadiness": steadiness(kept, jump),
        "level_change": jump.factor - 1 if jump else 0.0,
        "level_changed_at_step": float(slowest.index[jump.at]) if jump else nan,
        "throughput_samples_per_s": global_batch / step_time,
    }


def training_steps(observation: Observation) -> pd.DataFrame:
    """Steps of training, without probes.

    Raises UserError naming the run where ranks differ in their steps, or a time is negative.
    """
    steps = observation.steps[observation.steps["phase"].isin(TRAINING_PHASES)]
    run = observation.record.run_id
    counts = steps.groupby("rank")["step"].nunique()
    if len(counts) and counts.min() != counts.max():
        least, most = counts.idxmin(), counts.idxmax()
        raise UserError(
            f"{run}: rank {least} reports {counts[least]} steps, rank {most} {counts[most]}; a step's time is the"
            " largest over all ranks, so it cannot be told. Move the run's directory away and run snakemake again"
        )
    if len(steps) and (steps[[*PART_COLUMNS, "step_time_s"]].min(axis=None) < 0):
        raise UserError(f"{run}: a step has a negative time: the clock went backwards. Measure it again")
    return steps


def steady_steps(observation: Observation) -> pd.DataFrame:
    """The steps after the warm-up; empty where the launch is not ok or too short.

    A block that the warm-up ends in counts from there on.
    """
    steps = training_steps(observation)
    if observation.record.outcome != "ok" or steps.empty:
        return steps.iloc[:0]
    whole = steps[steps["phase"] != "tail"]
    slowest = whole.groupby("step")["step_time_s"].max()
    cut = max(mser5(slowest.to_numpy()), observation.record.spec.measure.warmup_steps)
    return whole[whole["step"].isin(slowest.index[cut:])]


QUANTILES = np.append(np.linspace(0, 0.98, 50), [0.99, 1.0])
"""Every other per cent, and the last: the long steps are what one looks at a distribution for."""


def step_quantiles(steady: pd.DataFrame) -> pd.DataFrame:
    """quantile (QUANTILES) and step_time_s, the largest over ranks, of steady_steps; empty if there are none."""
    slowest = steady.groupby("step")["step_time_s"].max().to_numpy()
    at = QUANTILES if len(slowest) else QUANTILES[:0]
    return pd.DataFrame({"quantile": at, "step_time_s": np.quantile(slowest, at) if len(slowest) else at})


def block_times(steady: pd.DataFrame) -> pd.DataFrame:
    """A row a block: time_s, the largest over ranks, and its number of steps."""
    by_rank = steady.groupby(["block", "rank"])["step_time_s"]
    return pd.DataFrame({"time_s": by_rank.sum(), "steps": by_rank.count()}).groupby("block").max()


def block_step_times(steady: pd.DataFrame) -> list[float]:
    """Step times in seconds of the blocks of steady_steps, in order."""
    blocks = block_times(steady)
    return (blocks["time_s"] / blocks["steps"]).to_list()


def steadiness(step_times_s: np.ndarray, jump: Jump | None) -> str:
    """'' where one mean describes the steps; otherwise the sentence that says why it does not.

    jump: what find_jump sees in them.
    """
    if jump:
        return f"no steady state: the step time changed by {jump.factor - 1:+.0%} after {jump.at} steady steps"
    modes = find_modes(step_times_s)
    if modes:
        fast, slow = modes.fast_s * 1e3, modes.slow_s * 1e3
        return f"two modes: {fast:.3g} ms and {slow:.3g} ms ({modes.slow_share:.0%} of the steps)"
    return ""
