"""The gradient noise scale of a run: the batch at which the noise of a gradient equals the gradient itself."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.statistics.fieller import ratio_of_means
from scalestudy.analyse.statistics.intervals import NOTHING
from scalestudy.record.gradient_noise import GradientNoise, gradient_noise_in
from scalestudy.record.observation import RunRecord

SCALE, VARIANCE, SQUARE = "gradient_noise_scale_samples", "gradient_variance", "gradient_square"


def noise_of(record: RunRecord, *, confidence: float) -> dict[str, Any]:
    """Returns columns of a run: tr(Sigma) / |G|^2, samples, with its interval; tr(Sigma); |G|^2.

    All are nan if they were not measured. The interval is over the run's rows of steps and describes this one
    network.
    """
    noise = gradient_noise_in(record.environment) if record.outcome == "ok" else None
    if noise is None:
        return {**NOTHING.columns(SCALE), VARIANCE: nan, SQUARE: nan}
    variances, squares = pseudo_values(noise)
    scale = ratio_of_means(variances, squares, confidence=confidence)
    return {**scale.columns(SCALE), VARIANCE: float(variances.mean()), SQUARE: float(squares.mean())}


def pseudo_values(noise: GradientNoise) -> tuple[np.ndarray, np.ndarray]:
    """Returns values for tr(Sigma) and |G|^2, shape (rows,) each, whose means are the unbiased estimates.

    The estimate U of |G|^2 is the mean product of two different rows, a U-statistic of order 2. Without row k,
    whose mean product with the others is u_k, it is (n U - 2 u_k) / (n - 2), and n U minus n - 1 times that is the
    jackknife's pseudo-value. The covariance of pseudo-values over n is the covariance of the estimates, and tends
    to overestimate it. tr(Sigma) = b (mean |g|^2 - U), for gradients of b samples. Sources: Arvesen (1969), Annals
    of Mathematical Statistics 40, 2076; Efron and Stein (1981), Annals of Statistics 9, 586.
    """
    own, products = np.array(noise.squares), np.array(noise.products)
    rows = len(products)
    squares = (2 * (rows - 1) * products - rows * products.mean()) / (rows - 2)
    return noise.samples * (own - squares), squares
