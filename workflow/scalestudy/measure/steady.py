"""When a run has warmed up: MSER-5 on its step times."""

from __future__ import annotations

import numpy as np


def mser5(values: np.ndarray, *, batch: int = 5) -> int:
    """Number of leading values to drop so that the rest is steady.

    1. means of `batch` consecutive values; 2. for every cut d in the first half, the squared standard error of
    the mean of what remains, sum((y - mean)^2) / (m - d)^2; 3. the cut with the smallest.
    Returns 0 for fewer than four batches. Source: White (1997), "An effective truncation heuristic for bias
    reduction in simulation output", Simulation 69(6).
    """
    batches = len(values) // batch
    if batches < 4:
        return 0
    means = np.asarray(values[: batches * batch], dtype=float).reshape(batches, batch).mean(axis=1)
    statistics = [
        np.var(means[cut:]) / (batches - cut)  # var / m == sum of squares / m^2
        for cut in range(batches // 2)
    ]
    return int(np.argmin(statistics)) * batch
