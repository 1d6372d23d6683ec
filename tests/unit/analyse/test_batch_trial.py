"""Result of a trial of larger batches: the noise scale that explains its losses."""

from __future__ import annotations

from math import exp, inf, isnan, nan

import pytest
from scalestudy.analyse.forecast.goodput import efficiency_interval, statistical_efficiency
from scalestudy.analyse.run.batch_trial import noise_scale_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.record.batch_trial import BatchTrial, Branch

BATCH, SAMPLES = 64, 8192


def branch(times: int, factor: float, *, ends: float = 1.0) -> Branch:
    """The loss falls from 1.5 towards 0.5; a larger batch takes `factor` times the samples to each loss."""
    at = tuple(range(0, int(SAMPLES * ends) + 1, 1024))
    return Branch(times=times, samples=at, losses=tuple(0.5 + exp(-(x / factor) / SAMPLES) for x in at))


def trial(noise_scale: float, **options: float) -> BatchTrial:
    def factor(times: int) -> float:
        return 1 / statistical_efficiency(noise_scale, times * BATCH, BATCH)

    return BatchTrial(at_samples=100, branches=tuple(branch(k, factor(k), **options) for k in (1, 2, 4)))


@pytest.mark.parametrize("noise_scale", [30, 100, 400, 1500])
def test_the_noise_scale_that_made_the_curves_is_found(noise_scale: float) -> None:
    assert noise_scale_of(trial(noise_scale), BATCH) == pytest.approx(noise_scale, rel=0.05)


def test_a_short_branch_is_compared_as_far_as_it_goes() -> None:
    whole = trial(100)
    short = whole.model_copy(update={"branches": (*whole.branches[:2], branch(4, 356 / 164, ends=0.75))})
    assert noise_scale_of(short, BATCH) == pytest.approx(100, rel=0.05)


def test_batches_that_lose_nothing_have_no_noise_scale_and_those_that_diverge_none_above_nothing() -> None:
    assert noise_scale_of(trial(inf), BATCH) == inf
    found = trial(100)
    broken = found.branches[-1].model_copy(update={"losses": (1.5, nan), "samples": (0, 1024)})
    assert noise_scale_of(found.model_copy(update={"branches": (*found.branches[:2], broken)}), BATCH) == 0


def test_a_loss_that_does_not_fall_tells_nothing() -> None:
    """A network that learns its samples by heart: the loss over held-out samples rises again."""
    found = trial(100)
    flat = found.branches[0].model_copy(update={"losses": tuple(0.5 - 1e-3 * k for k in range(9))})
    rising = found.branches[0].model_copy(update={"losses": (1.0, 0.8, 0.7, 0.6, 0.6, 0.65, 0.7, 0.8, 0.9)})
    for first in (flat, rising):
        assert isnan(noise_scale_of(found.model_copy(update={"branches": (first, *found.branches[1:])}), BATCH))


def test_gradients_count_four_times_as_much_as_a_trial() -> None:
    noise = Interval(100.0, 50.0, inf)
    alone = efficiency_interval(noise, 256, 64, confidence=0.95)
    assert efficiency_interval(noise, 256, 64, tried=100.0, confidence=0.95).value == pytest.approx(alone.value)
    together = efficiency_interval(noise, 256, 64, tried=inf, confidence=0.95)
    assert together.value == pytest.approx(alone.value**0.8)
    assert together.low < together.value < together.high
    worse = efficiency_interval(noise, 256, 64, tried=1.0, confidence=0.95)
    assert worse.value == pytest.approx(alone.value**0.8 * (65 / 257) ** 0.2)
    diverged = efficiency_interval(noise, 256, 64, tried=0.0, confidence=0.95)
    assert diverged.value == pytest.approx(1 / 4)
