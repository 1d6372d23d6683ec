"""The gradient noise scale that explains the results of a trial of larger batches."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import numpy as np

from scalestudy.record.batch_trial import BatchTrial, Branch, batch_trial_in
from scalestudy.record.observation import RunRecord

SCALE = "trial_noise_scale_samples"
_RATIOS = np.concatenate([[0.0], np.geomspace(0.01, 30, 200)])
"""Candidate values of the run's batch divided by the noise scale."""
LEAST_FALL = 0.05
"""Smallest decrease of the logarithm of the loss in the first branch. With less, or if the loss over held-out
samples rises again, as when a network memorises its samples, other batches cannot be compared with it."""
_PLACES = np.linspace(0.2, 1.0, 9)
"""Shares of the common range of both branches for the comparison; at the checkpoint they are equal."""


def trial_of(record: RunRecord) -> dict[str, Any]:
    """Returns samples; nan without a trial or if the loss fell too little; 0 if a branch diverged."""
    trial = batch_trial_in(record.environment) if record.outcome == "ok" else None
    return {SCALE: nan if trial is None else noise_scale_of(trial, record.spec.global_batch)}


def noise_scale_of(trial: BatchTrial, batch: int) -> float:
    """Returns the noise scale B_noise, in samples, by which k times the batch B needs (B_noise + k B) / (B_noise +
    B) times the samples to reach each loss in the branches. inf if larger batches need no additional samples.

    Least squares of the logarithms of the losses. The curve of a branch is a parabola through them. batch: of the
    run, in samples. Source of the factor: McCandlish et al. (2018), section 2.3.
    """
    if any(isnan(branch.losses[-1]) for branch in trial.branches):
        return 0.0
    first, *larger = trial.branches
    whole = float(first.samples[-1])
    base, base_end = _curve(first, whole)
    fell = np.polyval(base, 0.0) - np.polyval(base, _PLACES * base_end)
    if not (np.diff(fell, prepend=0.0) > 0).all() or fell[-1] < LEAST_FALL:
        return nan
    errors = np.zeros(len(_RATIOS))
    for branch in larger:
        curve, end = _curve(branch, whole)
        factors = (1 + branch.times * _RATIOS) / (1 + _RATIOS)
        for index, factor in enumerate(factors):
            places = _PLACES * min(base_end, end / factor)
            misses = np.polyval(curve, places * factor) - np.polyval(base, places)
            errors[index] += float(np.square(misses).mean())
    ratio = float(_RATIOS[errors.argmin()])
    return batch / ratio if ratio else inf


def _curve(branch: Branch, whole: float) -> tuple[np.ndarray, float]:
    """Returns (coefficients of the logarithm of the loss by the share of `whole` samples, share at its end)."""
    shares = np.array(branch.samples) / whole
    return np.polyfit(shares, np.log(np.array(branch.losses, dtype=float)), min(2, len(shares) - 1)), shares[-1]
