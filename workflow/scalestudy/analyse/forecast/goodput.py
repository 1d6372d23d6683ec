"""Value of a larger batch: fewer steps, but more samples, until the same loss.

B_noise = tr(Sigma) / |G|^2 is the gradient noise scale, in samples. A step of batch B lowers the loss by 1 / (1 +
B_noise / B) of the reduction of a step with the true gradient. So, until the same loss, a batch of B samples needs
1 + B_noise / B times the steps of a very large one, and 1 + B / B_noise times the samples of a very small one.

This is valid for plain SGD with a learning rate that is tuned for every batch: epsilon(B) = epsilon_max / (1 +
B_noise / B), which is linear in the batch far below the noise scale and constant far above. For Adam, the same
authors found rates that grow with a power of the batch between 0.5 and 1. The noise scale is from one moment; it
usually grows during training.

Sources: McCandlish et al. (2018), An Empirical Model of Large-Batch Training, arXiv:1812.06162, sections 2.2 and
2.3; efficiency and goodput as in Qiao et al. (2021), Pollux, OSDI.
"""

from __future__ import annotations

from math import isinf, isnan, log2, nan, sqrt

from scalestudy.analyse.statistics.intervals import Interval, normal_quantile, product

FORMULA_ERROR = 0.09
"""Standard deviation of the logarithm of the factor of samples at twice the batch. It grows with the square root
of the number of doublings. Root mean square over twelve networks on three kinds of data, at two and four times the
batch. The noise scale is measured at the end of one training, and the learning rate follows the batch
(docs/benchmarks.md, "Time to accuracy")."""

TRIAL_WEIGHT = 0.2
"""Weight of a trial relative to the gradients: from the inverse squares of their errors in one training, 0.25 and
0.12 of the logarithm of the factor of samples (the same networks)."""


def statistical_efficiency(noise_scale: float, batch: float, reference: float) -> float:
    """Returns (B_noise + B0) / (B_noise + B): progress per sample at a batch relative to the reference batch B0.

    1 if the noise scale is inf: then every sample of these batches contributes equally. All in samples.
    """
    return 1.0 if isinf(noise_scale) else (noise_scale + reference) / (noise_scale + batch)


def efficiency_interval(
    noise_scale: Interval, batch: float, reference: float, *, confidence: float, tried: float = nan
) -> Interval:
    """Returns statistical_efficiency of each end of the interval, including the error of the formula
    (FORMULA_ERROR).

    confidence: of the limits, also of the noise scale's. tried: the noise scale from a trial of larger batches;
    nan without one. The efficiency increases with the noise scale above the reference batch, and decreases below
    it. Both estimates are averaged with TRIAL_WEIGHT; a trial that diverged, 0, counts alone. All in samples.
    """
    of = noise_scale.map if batch >= reference else noise_scale.falling
    found = of(lambda scale: statistical_efficiency(scale, batch, reference))
    if not isnan(tried):
        by_trial, weight = statistical_efficiency(tried, batch, reference), TRIAL_WEIGHT if tried else 1.0
        found = found.map(lambda one: one ** (1 - weight) * by_trial**weight)
    off = FORMULA_ERROR * sqrt(abs(log2(batch / reference)))
    return found.widened(off * normal_quantile(confidence))


def goodput(
    throughput: Interval,
    noise_scale: Interval,
    batch: float,
    reference: float,
    *,
    confidence: float,
    tried: float = nan,
) -> Interval:
    """Returns throughput times statistical efficiency: samples per second, in equivalents of the reference batch.

    throughput: at `batch`, samples/s. It and the noise scale are measured in different steps, so that their errors
    are independent. tried: as above.
    """
    worth = efficiency_interval(noise_scale, batch, reference, confidence=confidence, tried=tried)
    return product(throughput, worth)
