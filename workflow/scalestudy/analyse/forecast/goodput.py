"""What a larger batch is worth: fewer steps, but more samples, until the same loss.

B_noise = tr(Sigma) / |G|^2 is the gradient noise scale, samples. A step of batch B lowers the loss by 1 / (1 +
B_noise / B) of what a step with the true gradient would. So, to the same loss, a batch of B samples needs 1 +
B_noise / B times as many steps as a very large one, and 1 + B / B_noise times as many samples as a very small one.

This holds for plain SGD with a learning rate that is tuned for every batch: epsilon(B) = epsilon_max / (1 +
B_noise / B), which is linear in the batch far below the noise scale and constant far above. For Adam, the
same authors found rates that grow with a power of the batch between 0.5 and 1. The noise scale is that of one
moment; it usually grows while a network is trained.

Sources: McCandlish et al. (2018), An Empirical Model of Large-Batch Training, arXiv:1812.06162, sections 2.2 and
2.3; efficiency and goodput as in Qiao et al. (2021), Pollux, OSDI.
"""

from __future__ import annotations

from math import isinf, isnan, log2, nan, sqrt

from scalestudy.analyse.statistics.intervals import Interval, normal_quantile, product

FORMULA_ERROR = 0.09
"""Standard deviation of the logarithm of the factor of samples at twice the batch. It grows with the square root
of the number of doublings. Root mean square over twelve networks on three kinds of data, at two and four times the
batch. The noise scale is that of one training at its end, and the learning rate follows the batch
(docs/benchmarks.md, "Time to accuracy")."""

TRIAL_WEIGHT = 0.2
"""Of a trial beside the gradients: by the inverse squares of what each is off by in one training, 0.25 and 0.12 of
the logarithm of the factor of samples (the same networks)."""


def statistical_efficiency(noise_scale: float, batch: float, reference: float) -> float:
    """(B_noise + B0) / (B_noise + B): progress of a sample at a batch over that at the reference batch B0.

    1 where the noise scale is inf: then no sample of these batches is in vain. All in samples.
    """
    return 1.0 if isinf(noise_scale) else (noise_scale + reference) / (noise_scale + batch)


def efficiency_interval(
    noise_scale: Interval, batch: float, reference: float, *, confidence: float, tried: float = nan
) -> Interval:
    """statistical_efficiency of each end of the interval, and what the formula itself is off by (FORMULA_ERROR).

    confidence: of the limits, those of the noise scale too. tried: the noise scale that a trial of larger batches
    shows; nan where there was none. The efficiency rises with the noise scale above the reference batch, and falls
    below it. Both efficiencies count, as TRIAL_WEIGHT says, and a trial that diverged, 0, counts alone. All in
    samples.
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
    """Throughput times statistical efficiency: samples a second, each worth one of the reference batch.

    throughput: at `batch`, samples/s. It and the noise scale are measured in different steps, so that their errors
    do not depend on each other. tried: as above.
    """
    worth = efficiency_interval(noise_scale, batch, reference, confidence=confidence, tried=tried)
    return product(throughput, worth)
