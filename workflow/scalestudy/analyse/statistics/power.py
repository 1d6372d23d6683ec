"""The smallest difference that a comparison can show: the power of Student's t on differences within repeats."""

from math import sqrt

from scipy.special import chdtri, nctdtrinc, stdtrit

from scalestudy.analyse.statistics.intervals import NOTHING, Interval, Sample

POWER = 0.8
"""Probability of showing a difference of the smallest size that counts: 4 of 5 studies. Source: Cohen (1988),
"Statistical Power Analysis for the Behavioral Sciences", chapter 2 (convention)."""


def spread(sample: Sample, *, confidence: float) -> Interval:
    """Returns the standard deviation of a sample with its exact limits for normal values, from chi-square.

    NOTHING without a degree of freedom. Source: Box, Hunter and Hunter (2005), "Statistics for Experimenters".
    """
    if sample.freedom < 1:
        return NOTHING
    deviation = sqrt(sample.variance_of_mean * len(sample.values))
    low, high = (
        deviation * sqrt(sample.freedom / float(chdtri(sample.freedom, 0.5 - side * confidence / 2)))
        for side in (1, -1)
    )
    return Interval(deviation, low, high)


def smallest_shown(spread: Interval, *, count: int, freedom: int, confidence: float) -> Interval:
    """Returns the true mean whose interval excludes 0 with a probability of POWER, from the spread of single
    values.

    count: values in the mean. freedom: degrees of freedom of their spread. The interval is Student's, at
    `confidence`. The mean is delta * spread / sqrt(count), where the noncentral t distribution with noncentrality
    delta is above the quantile of the interval with this probability. Excluding 0 on the wrong side is not
    counted; from 90 % confidence on it has a probability below 0.001. Limits follow from the limits of the spread.
    It is about (t(1 - alpha/2) + t(POWER)) * spread / sqrt(count); with few degrees of freedom this approximation
    is too small. Source: Johnson, Kotz and Balakrishnan (1995), "Continuous Univariate Distributions", volume 2,
    chapter 31.
    """
    quantile = float(stdtrit(freedom, 0.5 + confidence / 2))
    return spread.scaled(float(nctdtrinc(freedom, 1 - POWER, quantile)) / sqrt(count))
