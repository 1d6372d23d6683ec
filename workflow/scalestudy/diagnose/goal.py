"""The worth of a recommendation to a study, by the study's goal."""

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
    """Improvement factor over now; NOTHING if nothing is predicted.

    throughput: the gain. time_to_accuracy: the gain times the worth of a sample at the new global batch over its
    worth now. cost_per_sample: device-seconds per sample now over those after the change. noise_scale: in samples.
    """
    if recommendation.prediction is None:
        return NOTHING
    gain = recommendation.prediction.gain
    if goal == Goal.COST_PER_SAMPLE:
        ranks = int(point["world_size"])
        return gain.scaled(ranks / (world_size(recommendation.scale) if recommendation.scale else ranks))
    if goal == Goal.TIME_TO_ACCURACY:
        known = progress(recommendation, point, noise_scale, confidence=confidence)
        # A sample is worth at least as much in a smaller batch. Its worth in a larger one is not known.
        smaller = (recommendation.global_batch or inf) < int(point["global_batch"])
        return gain if smaller and isnan(known.value) else known
    return gain


def progress(
    recommendation: Recommendation, point: pd.Series, noise_scale: Interval, *, confidence: float
) -> Interval:
    """Speed of progress to the same accuracy over that of now; NOTHING if unknown. noise_scale: in samples.

    This is the gain if the global batch is unchanged. Otherwise the gain is multiplied by the worth of a sample at
    the new batch over its worth now, from the noise scale and, if the point has one, a trial of larger batches.
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
    """Speed of progress at another global batch (samples) over that of now. gain: of throughput there over now."""
    if isnan(noise_scale.value):
        return NOTHING
    now, tried = int(point["global_batch"]), tried_noise_scale_of(point)
    return goodput(gain, noise_scale, batch, now, confidence=confidence, tried=tried)


def sample_worth(batch: int, point: pd.Series, noise_scale: Interval, *, confidence: float) -> Interval:
    """Worth of a sample at another global batch over its worth now; NOTHING without a gradient noise scale."""
    if isnan(noise_scale.value):
        return NOTHING
    now, tried = int(point["global_batch"]), tried_noise_scale_of(point)
    return efficiency_interval(noise_scale, batch, now, confidence=confidence, tried=tried)


def tried_noise_scale_of(point: pd.Series) -> float:
    """The noise scale in samples from a trial of larger batches; nan without a trial."""
    return float(point.get("trial_noise_scale_samples", nan))


def noise_scale_of(*rows: pd.Series) -> Interval:
    """The gradient noise scale in samples of the first row that has one; NOTHING if no row has one."""
    known = [Interval.of(row, "gradient_noise_scale_samples") for row in rows]
    return next((one for one in known if not isnan(one.value)), NOTHING)
