"""Means of batches of steps: the precision of a mean over correlated steps, and the end of the warm-up."""

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np
from scipy.special import stdtrit

TIMES_CORRELATION = 10  # a batch is at least this many autocorrelation times long
FEWEST = 5  # batches; with fewer, Student's factor grows faster than the batches become independent


@dataclass(frozen=True)
class MeanOfSteps:
    """Mean of a series with the relative half-width of its interval; inf if it is unknown."""

    mean: float
    half_width: float
    batches: int
    batch_steps: int


def autocorrelation_time(values: np.ndarray) -> float:
    """Returns the integrated autocorrelation time in steps, 1 + 2 sum of rho_k, at least 1; 1 for white noise.

    1. autocorrelation by FFT; 2. summed up to the smallest window M >= 5 tau(M). Source: Sokal (1997), "Monte
       Carlo methods in statistical mechanics", section 3.
    """
    series = np.asarray(values, dtype=float)
    series = series - series.mean()
    power = float(series @ series)
    if power == 0 or len(series) < 4:
        return 1.0
    spectrum = np.fft.rfft(series, n=2 * len(series))
    rho = np.fft.irfft(spectrum * spectrum.conj())[: len(series)] / power
    tau = 2 * np.cumsum(rho) - 1
    windows = np.arange(len(series)) >= 5 * tau
    window = int(np.argmax(windows)) if windows.any() else len(series) - 1
    return max(1.0, float(tau[window]))


def batch_means(values: np.ndarray, *, confidence: float) -> MeanOfSteps:
    """Returns the mean of correlated values with Student's interval over the means of consecutive batches.

    A batch is TIMES_CORRELATION autocorrelation times long, or 1 / FEWEST of the series if there would be too few
    batches. In the second case the batches may be correlated; the series is too short to show it. Source: Law &
    Kelton, "Simulation Modeling and Analysis", section 9.5.3.
    """
    series = np.asarray(values, dtype=float)
    mean = float(series.mean()) if len(series) else inf
    if len(series) < 2 * FEWEST:
        return MeanOfSteps(mean, inf, 0, 0)
    length = min(ceil(TIMES_CORRELATION * autocorrelation_time(series)), len(series) // FEWEST)
    count = len(series) // length
    means = series[len(series) - count * length :].reshape(count, length).mean(axis=1)
    factor = float(stdtrit(count - 1, 0.5 + confidence / 2))
    half = factor * float(means.std(ddof=1)) / sqrt(count)
    return MeanOfSteps(mean, half / mean if mean else inf, count, length)


def mser5(values: np.ndarray, *, batch: int = 5) -> int:
    """Returns the number of leading values to drop so that the rest is steady.

    1. means of `batch` consecutive values; 2. for every cut d in the first half, the squared standard error of the
       mean of the rest, sum((y - mean)^2) / (m - d)^2; 3. the cut with the smallest. Returns 0 for fewer than four
       batches. Source: White (1997), "An effective truncation heuristic for bias reduction in simulation output",
       Simulation 69(6).
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
