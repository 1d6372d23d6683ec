"""Estimates the goal of all settings from runs of some, with a Gaussian process on the logarithm of the goal.

The effects of keys on a step are mostly additive, so one run gives information on every setting that shares a
level with it. The covariance of two settings is a sum over keys (both have similar levels), over pairs of keys (an
interaction, smaller), and a part specific to the setting. Runs of a block share an offset for the state of the
host. The mean is the prediction of the step-time models (prior.py).

Sources: Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, sections 2.2 and 2.7; Durrande,
Ginsbourger and Roustant (2012), Annales de la Faculte des Sciences de Toulouse 21 (additive kernels); expected
improvement as in Jones, Schonlau and Welch (1998), Journal of Global Optimization 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2

import numpy as np

from scalestudy.tune.space import Space

MAIN, PAIR, OWN = 0.25, 0.08, 0.03
"""Standard deviations of the effect of a key, of a pair of keys, and of a setting: logarithm of the goal."""
OFFSET, LEVEL = 0.2, 10.0
"""Standard deviations of the offset of a block, and of the common level of all runs, which is unknown."""
SCALES, NOISES = (0.5, 1.0, 2.0), (0.01, 0.02, 0.04, 0.08, 0.16)
"""Candidate factors of the effects, and standard deviations of runs; the most likely pair is used."""


@dataclass(frozen=True)
class Posterior:
    """Posterior of the logarithm of the goal, without the offsets of blocks; arrays have shape (settings,)."""

    mean: np.ndarray
    sd: np.ndarray
    noise: float
    """Standard deviation of a run."""

    def expected_improvement(self, best: float) -> np.ndarray:
        """Mean of max(0, f - best), shape (settings,)."""
        from scipy.special import ndtr

        sd = np.maximum(self.sd, 1e-9)
        z = (self.mean - best) / sd
        found: np.ndarray = sd * (z * ndtr(z) + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
        return found


class Surrogate:
    """The Gaussian process over a space. prior: predicted logarithm of the goal, shape (settings,)."""

    def __init__(self, space: Space, prior: np.ndarray) -> None:
        self.prior = prior
        self._alike = [_alike([one.get(knob.key) for one in space.settings]) for knob in space.knobs]

    def posterior(self, at: Sequence[int], blocks: Sequence[int], values: Sequence[float]) -> Posterior:
        """The posterior given runs. at, blocks, values: index of the setting, block, log of the goal of each."""
        tried, block, y = np.array(at), np.array(blocks), np.array(values, dtype=float)
        residual = y - self.prior[tried]
        residual = residual - np.median(residual)
        kernel = self._kernel(tried)
        shared = LEVEL**2 + OFFSET**2 * (block[:, None] == block[None, :])
        best, chosen = -np.inf, (1.0, NOISES[2])
        for scale in SCALES:
            for noise in NOISES:
                likely = _likelihood(scale**2 * kernel[tried] + shared + noise**2 * np.eye(len(y)), residual)
                likely -= 0.5 * (log(noise / 0.04) ** 2 + log(scale) ** 2)  # runs scatter by a few per cent
                if likely > best:
                    best, chosen = likely, (scale, noise)
        scale, noise = chosen
        total = scale**2 * kernel[tried] + shared + noise**2 * np.eye(len(y))
        cross = scale**2 * kernel
        weights = np.linalg.solve(total, np.column_stack([residual, cross.T]))
        mean = self.prior + cross @ weights[:, 0]
        variance = scale**2 * self._variance() - np.einsum("ij,ji->i", cross, weights[:, 1:])
        return Posterior(mean, np.sqrt(np.maximum(variance, 0)), noise)

    def _kernel(self, tried: np.ndarray) -> np.ndarray:
        """Covariance of every setting with the tried settings, shape (settings, tried)."""
        alike = [one[:, tried] for one in self._alike]
        first = sum(alike)
        # The sum of products over pairs is half of (square of the sum minus sum of squares).
        pairs = (first**2 - sum(one**2 for one in alike)) / 2
        same = np.arange(len(self.prior))[:, None] == tried[None, :]
        found: np.ndarray = MAIN**2 * first + PAIR**2 * pairs + OWN**2 * same
        return found

    def _variance(self) -> float:
        keys = len(self._alike)
        return MAIN**2 * keys + PAIR**2 * keys * (keys - 1) / 2 + OWN**2


def _alike(levels: list[object]) -> np.ndarray:
    """Similarity of the levels of a key, shape (settings, settings): 1 for equal levels; for numbers above 0 it
    falls with their distance in doublings."""
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in levels if one is not None)
    codes = {level: code for code, level in enumerate(dict.fromkeys(levels))}
    table = np.eye(len(codes))
    if numeric:
        for first, i in codes.items():
            for second, j in codes.items():
                if isinstance(first, int | float) and isinstance(second, int | float) and min(first, second) > 0:
                    table[i, j] = np.exp(-abs(log2(first / second)) / 3)
    which = np.array([codes[one] for one in levels])
    found: np.ndarray = table[np.ix_(which, which)]
    return found


def _likelihood(covariance: np.ndarray, residual: np.ndarray) -> float:
    """Logarithm of the likelihood, without its constant; -inf if the covariance is not positive definite."""
    try:
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return -np.inf
    half = np.linalg.solve(lower, residual)
    return float(-0.5 * half @ half - np.log(np.diag(lower)).sum())
