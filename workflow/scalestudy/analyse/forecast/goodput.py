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

from math import exp, inf, isinf, isnan, log2, nan

from scalestudy.analyse.statistics.intervals import Interval, product

FORMULA_ERROR = 0.15
"""What the logarithm of the factor of samples is off by for each doubling of the batch, at 95 %: twice the root
mean square over eight networks on three kinds of data, at two and four times the batch. The noise scale is that of
one training at its end, and the learning rate follows the batch (docs/models.md)."""

TRIAL_WEIGHT = 0.2
"""Of a trial beside the gradients: by the inverse squares of what each is off by in one training, 0.25 and 0.12 of
the logarithm of the factor of samples (the same networks)."""


def samples_factor(noise_scale: float, batch: float) -> float:
    """1 + B / B_noise: samples until the same loss, over those of a very small batch. Both in samples."""
    return 1 + batch / noise_scale if noise_scale > 0 else inf


def steps_factor(noise_scale: float, batch: float) -> float:
    """1 + B_noise / B: steps until the same loss, over those of a very large batch. Both in samples."""
    return 1 + noise_scale / batch


def learning_rate_factor(noise_scale: float, batch: float, reference: float) -> float:
    """Best learning rate at a batch over that at the reference batch, by epsilon_max / (1 + B_noise / B).

    It is the ratio of the batches where the noise scale is inf. All in samples.
    """
    if isinf(noise_scale):
        return batch / reference
    return steps_factor(noise_scale, reference) / steps_factor(noise_scale, batch)


def statistical_efficiency(noise_scale: float, batch: float, reference: float) -> float:
    """(B_noise + B0) / (B_noise + B): progress of a sample at a batch over that at the reference batch B0.

    1 where the noise scale is inf: then no sample of these batches is in vain. All in samples.
    """
    return 1.0 if isinf(noise_scale) else (noise_scale + reference) / (noise_scale + batch)


def efficiency_interval(noise_scale: Interval, batch: float, reference: float, *, tried: float = nan) -> Interval:
    """statistical_efficiency of each end of the interval, and what the formula itself is off by (FORMULA_ERROR).

    It rises with the noise scale above the reference batch, and falls below it. tried: the noise scale that a
    trial of larger batches shows; nan where there was none. Both efficiencies count, as TRIAL_WEIGHT says, and a
    trial that diverged, 0, counts alone. All in samples.
    """
    of = noise_scale.map if batch >= reference else noise_scale.falling
    found = of(lambda scale: statistical_efficiency(scale, batch, reference))
    if not isnan(tried):
        by_trial, weight = statistical_efficiency(tried, batch, reference), TRIAL_WEIGHT if tried else 1.0
        found = found.map(lambda one: one ** (1 - weight) * by_trial**weight)
    off = exp(FORMULA_ERROR * abs(log2(batch / reference)))
    return product(found, Interval(1.0, 1 / off, off))


def goodput(
    throughput: Interval, noise_scale: Interval, batch: float, reference: float, *, tried: float = nan
) -> Interval:
    """Throughput times statistical efficiency: samples a second, each worth one of the reference batch.

    throughput: at `batch`, samples/s. It and the noise scale are measured in different steps, so that their errors
    do not depend on each other. tried: as above.
    """
    return product(throughput, efficiency_interval(noise_scale, batch, reference, tried=tried))


def time_to_same_loss(
    time_s: Interval, speedup: Interval, noise_scale: Interval, batch: float, reference: float
) -> Interval:
    """Training time at a batch until the loss, or the accuracy, that the reference batch reaches in time_s;
    seconds.

    speedup: throughput at `batch` over that at the reference batch. The time is time_s / (speedup x efficiency).
    """
    return product(time_s, goodput(speedup, noise_scale, batch, reference).inverse())
