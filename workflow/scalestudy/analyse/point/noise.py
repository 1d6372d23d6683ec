"""The gradient noise scale of a point: the ratio of the averages over its runs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.analyse.run.batch_trial import SCALE as TRIAL
from scalestudy.analyse.run.noise import SCALE, SQUARE, VARIANCE
from scalestudy.analyse.statistics.fieller import ratio_of_means
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.statistics.medians import median


def noise_row(good: pd.DataFrame, *, confidence: float) -> dict[str, Any]:
    """Returns gradient_noise_scale_samples with its limits, gradient_variance, gradient_square, and the noise
    scale from a trial of larger batches. good: rows of runs.csv.

    The run is the unit of analysis: networks differ by their seeds, and their batches differ. `high` is inf if the
    mean of |G|^2 over runs does not differ significantly from 0. A single run has the interval over its own steps.
    """
    measured = good.dropna(subset=[VARIANCE, SQUARE])
    variances, squares = (measured[name].to_numpy(dtype=float) for name in (VARIANCE, SQUARE))
    scale = ratio_of_means(variances, squares, confidence=confidence)
    if len(measured) == 1:
        scale = Interval.of(measured.iloc[0], SCALE)
    return {
        **scale.columns(SCALE),
        VARIANCE: measured[VARIANCE].mean(),
        SQUARE: measured[SQUARE].mean(),
        TRIAL: median(good[TRIAL]),
    }
