"""The gradient noise scale from rows of gradients with a known mean and covariance, and Fieller's interval."""

from __future__ import annotations

import json
from math import inf, isinf, isnan, nan

import numpy as np
import pandas as pd
import pytest
from launches import spec_of
from scalestudy.analyse.point.noise import noise_row
from scalestudy.analyse.run.batch_trial import SCALE as TRIAL
from scalestudy.analyse.run.noise import SCALE, SQUARE, VARIANCE, noise_of, pseudo_values
from scalestudy.analyse.statistics.fieller import ratio_of_means
from scalestudy.record.gradient_noise import KEY, GradientNoise, gradient_noise_in
from scalestudy.record.observation import RunRecord, Totals

DIMENSIONS, SAMPLES, GRADIENTS, ROWS = 40, 8, 4, 16


def rows_of(random: np.random.Generator, mean: np.ndarray, spread: np.ndarray) -> GradientNoise:
    """As the probe leaves them: gradients of SAMPLES samples with N(mean, spread^2 / SAMPLES), independent."""
    shape = (ROWS, GRADIENTS, len(mean))
    gradients = mean + random.normal(size=shape) * spread / SAMPLES**0.5
    rows = gradients.mean(axis=1)
    others = (rows.sum(axis=0) - rows) / (ROWS - 1)
    return GradientNoise(
        samples=SAMPLES,
        gradients=GRADIENTS,
        squares=tuple((gradients**2).sum(axis=2).mean(axis=1)),
        products=tuple((rows * others).sum(axis=1)),
    )


def truth_of(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(G, standard deviations) with this noise scale; a few directions have most of the variance."""
    spread = 1 / np.sqrt(np.arange(1, DIMENSIONS + 1))
    mean = np.ones(DIMENSIONS)
    return mean * np.sqrt((spread**2).sum() / scale / DIMENSIONS), spread


@pytest.mark.parametrize("scale", [5.0, 100.0, 2000.0])
def test_both_estimates_are_unbiased(scale: float) -> None:
    mean, spread = truth_of(scale)
    random = np.random.default_rng(1)
    found = np.array([[x.mean() for x in pseudo_values(rows_of(random, mean, spread))] for _ in range(3000)])
    error = found.std(axis=0, ddof=1) / len(found) ** 0.5
    expected = np.array([(spread**2).sum(), (mean**2).sum()])
    assert (np.abs(found.mean(axis=0) - expected) < 4 * error).all()
    assert (error[0] / expected[0] < 0.01) and (error[1] < 0.1 * expected[1])


@pytest.mark.parametrize(("scale", "unbounded"), [(20.0, 0.0), (300.0, 0.35), (1000.0, 1.0), (30000.0, 1.0)])
def test_the_interval_covers_with_and_without_an_upper_limit(scale: float, unbounded: float) -> None:
    """Of ROWS x GRADIENTS x SAMPLES = 512 samples. Where the gradient drowns, the jackknife covers more often."""
    mean, spread = truth_of(scale)
    random, covered, without = np.random.default_rng(2), 0, 0
    for _ in range(1500):
        variances, squares = pseudo_values(rows_of(random, mean, spread))
        found = ratio_of_means(variances, squares, confidence=0.95)
        assert 0 <= found.low <= found.value <= found.high
        covered += found.low <= scale <= found.high
        without += isinf(found.high)
    assert covered / 1500 > 0.935
    assert without / 1500 == pytest.approx(unbounded, abs=0.1)


@pytest.mark.parametrize("below", [3.0, 0.5, 0.0])
def test_the_interval_of_pairs_covers_as_often_as_it_says(below: float) -> None:
    """Correlated normal pairs, where Fieller's interval is exact; the true ratio is 4 / below."""
    random, covered = np.random.default_rng(3), 0
    for _ in range(3000):
        first, second = random.normal(size=(2, 6))
        pairs = 4 + first, below + 0.8 * first + second
        found = ratio_of_means(*pairs, confidence=0.9)
        true = 4 / below if below else inf
        covered += found.low <= true <= found.high
    low = 0.9 - 0.02
    assert covered / 3000 > low
    if below == 3:
        assert covered / 3000 < 0.92


def test_pairs_without_scatter_and_too_few_of_them() -> None:
    assert ratio_of_means(np.full(5, 6.0), np.full(5, 2.0), confidence=0.95).columns("x") == pytest.approx(
        {"x": 3.0, "x_low": 3.0, "x_high": 3.0}
    )
    one = ratio_of_means(np.array([6.0]), np.array([2.0]), confidence=0.95)
    assert one.value == 3
    assert isnan(one.low)
    assert isnan(one.high)
    assert isnan(ratio_of_means(np.empty(0), np.empty(0), confidence=0.95).value)


def test_a_mean_below_zero_has_no_upper_limit() -> None:
    below = np.array([-0.1, 0.02, -0.05, 0.01])
    found = ratio_of_means(np.array([10.0, 11.0, 9.0, 10.0]), below, confidence=0.95)
    assert found.value == found.high == inf
    assert 50 < found.low < 1000
    far = ratio_of_means(np.array([10.0, 11.0, 9.0, 10.0]), below - 5, confidence=0.95)
    assert far.low < inf  # as of a mean of 0


def record_of(environment: dict[str, object], outcome: str = "ok") -> RunRecord:
    spec = spec_of({"strategy": "single"}, scale="1x1")
    totals = Totals(
        steps=1,
        samples=1,
        train_time_s=1,
        wall_time_s=1,
        parameters=1,
        gradient_bytes=None,
        bytes_sent_per_step=None,
        flops_per_sample=None,
    )
    return RunRecord(
        run_id=spec.run_id,
        protocol=1,
        fingerprint="",
        spec=spec,
        outcome=outcome,
        reason="",
        log_tail=(),
        started_at="",
        environment=environment,
        stopping=None,
        ranks=(),
        totals=totals,
        files={},
    )


def test_a_record_says_it_or_it_is_not_known() -> None:
    noise = rows_of(np.random.default_rng(4), *truth_of(50))
    content = json.loads(noise.model_dump_json())
    assert gradient_noise_in({KEY: content}) == noise
    found = noise_of(record_of({KEY: content}), confidence=0.95)
    assert found[SCALE] == pytest.approx(found[VARIANCE] / found[SQUARE])
    assert found[f"{SCALE}_low"] < 50 < found[f"{SCALE}_high"]
    failed = GradientNoise(samples=8, gradients=1, failed="MemoryError: no").model_dump(mode="json")
    for record in (record_of({}), record_of({KEY: failed}), record_of({KEY: content}, "failed")):
        unknown = noise_of(record, confidence=0.95)
        assert set(unknown) == set(found)
        assert all(isnan(value) for value in unknown.values())


def launches(*pairs: tuple[float, float]) -> pd.DataFrame:
    rows = [{VARIANCE: v, SQUARE: g, SCALE: v / g, f"{SCALE}_low": 1.0, f"{SCALE}_high": inf} for v, g in pairs]
    return pd.DataFrame(rows).assign(**{TRIAL: [300.0, *[nan] * (len(rows) - 1)]})


def test_a_point_has_the_ratio_of_averages_over_its_launches() -> None:
    several = noise_row(launches((10, 0.1), (12, 0.3), (nan, nan)), confidence=0.95)
    assert (several[VARIANCE], several[SQUARE]) == (11, pytest.approx(0.2))
    assert several[SCALE] == pytest.approx(55)
    assert several[f"{SCALE}_low"] < 55 < several[f"{SCALE}_high"]
    one = noise_row(launches((10, 0.1)), confidence=0.95)
    assert [one[f"{SCALE}{end}"] for end in ("", "_low", "_high")] == [pytest.approx(100), 1, inf]
    nothing = noise_row(launches((nan, nan)), confidence=0.95)
    assert nothing.pop(TRIAL) == 300, "of the launches that tried larger batches"
    assert all(isnan(value) for value in nothing.values())
