"""What a recommendation is worth to a study, by what the study is to reach."""

from __future__ import annotations

from math import isnan

import pandas as pd

from scalestudy.analyse.forecast.goodput import goodput
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Recommendation
from scalestudy.registry.codes import Goal
from scalestudy.study.config.scales import world_size


def worth(recommendation: Recommendation, goal: Goal, point: pd.Series, noise_scale: Interval) -> Interval:
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
    now = int(point["global_batch"])
    then = recommendation.global_batch or now
    if goal == Goal.TIME_TO_ACCURACY and then != now:
        if not isnan(noise_scale.value):
            return goodput(gain, noise_scale, then, now)
        # A sample is worth no less in a smaller batch, and how much less in a larger one nobody knows.
        return gain if then < now else NOTHING
    return gain


def noise_scale_of(*rows: pd.Series) -> Interval:
    """The gradient noise scale in samples of the first row that has one; NOTHING where none has."""
    known = [Interval.of(row, "gradient_noise_scale_samples") for row in rows]
    return next((one for one in known if not isnan(one.value)), NOTHING)
