"""What a recommendation is worth to a study, by what the study is to reach."""

from __future__ import annotations

from math import inf, isnan, nan

import pandas as pd

from scalestudy.analyse.forecast.goodput import efficiency_interval, goodput
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Recommendation
from scalestudy.registry.codes import Goal
from scalestudy.study.config.scales import world_size


def worth(
    recommendation: Recommendation, goal: Goal, point: pd.Series, noise_scale: Interval, *, confidence: float
) -> Interval:
    """Times as good as now; NOTHING where nothing is predicted.

    throughput: the gain. time_to_accuracy: the gain times what a sample is worth at the global batch of then, over
    what it is worth now. cost_per_sample: device-seconds of a sample now over then. noise_scale: in samples.
    """
    if recommendation.prediction is None:
        return NOTHING
    gain = recommendation.prediction.gain
    if goal == Goal.COST_PER_SAMPLE:
        ranks = int(point["world_size"])
        return gain.scaled(ranks / (world_size(recommendation.scale) if recommendation.scale else ranks))
    if goal == Goal.TIME_TO_ACCURACY:
        known = progress(recommendation, point, noise_scale, confidence=confidence)
        # A sample is worth no less in a smaller batch, and how much less in a larger one nobody knows.
        smaller = (recommendation.global_batch or inf) < int(point["global_batch"])
        return gain if smaller and isnan(known.value) else known
    return gain


def progress(
    recommendation: Recommendation, point: pd.Series, noise_scale: Interval, *, confidence: float
) -> Interval:
    """Times as fast to the same accuracy as now; NOTHING where that is not known. noise_scale: in samples.

    The gain, where the global batch is that of now; else the gain times what a sample is worth then, over now, by
    the noise scale and a trial of larger batches, if the point has one.
    """
    if recommendation.prediction is None:
        return NOTHING
    gain, then = recommendation.prediction.gain, recommendation.global_batch
    if then is None or then == int(point["global_batch"]):
        return gain
    return progress_at(then, gain, point, noise_scale, confidence=confidence)


def progress_at(
    batch: int, gain: Interval, point: pd.Series, noise_scale: Interval, *, confidence: float
) -> Interval:
    """The same at another global batch, in samples. gain: throughput there over that of now."""
    if isnan(noise_scale.value):
        return NOTHING
    now, tried = int(point["global_batch"]), tried_noise_scale_of(point)
    return goodput(gain, noise_scale, batch, now, confidence=confidence, tried=tried)


def sample_worth(batch: int, point: pd.Series, noise_scale: Interval, *, confidence: float) -> Interval:
    """What a sample is worth at another global batch, over now; NOTHING without a gradient noise scale."""
    if isnan(noise_scale.value):
        return NOTHING
    now, tried = int(point["global_batch"]), tried_noise_scale_of(point)
    return efficiency_interval(noise_scale, batch, now, confidence=confidence, tried=tried)


def tried_noise_scale_of(point: pd.Series) -> float:
    """The noise scale in samples that a trial of larger batches shows; nan where none were tried."""
    return float(point.get("trial_noise_scale_samples", nan))


def noise_scale_of(*rows: pd.Series) -> Interval:
    """The gradient noise scale in samples of the first row that has one; NOTHING where none has."""
    known = [Interval.of(row, "gradient_noise_scale_samples") for row in rows]
    return next((one for one in known if not isnan(one.value)), NOTHING)
