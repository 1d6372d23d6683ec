"""Advice is ranked by the goal of the study."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, summary_of
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Diagnosis, Prediction, Recommendation
from scalestudy.diagnose.goal import progress, worth
from scalestudy.registry.codes import Changes, Goal
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

NOISE = (1.0, 1.004, 0.997)
POINT = pd.Series({"world_size": 4, "global_batch": 64})


def predicted(gain: Interval) -> Prediction:
    return Prediction(
        step_time_s=NOTHING, gain=gain, speedup=NOTHING, efficiency=NOTHING, peak_memory_gib=1.0, assumes="x"
    )


def test_a_sample_of_a_larger_batch_is_worth_less() -> None:
    """Twice the throughput at four times the batch, at a noise scale as large as the batch of now: (64 + 64) / (64
    + 256) of 2."""
    larger = Recommendation(id="x", change="", prediction=predicted(Interval(2.0)), global_batch=256)
    assert worth(larger, Goal.THROUGHPUT, POINT, Interval(64.0), confidence=0.95).value == 2
    assert worth(larger, Goal.TIME_TO_ACCURACY, POINT, Interval(64.0), confidence=0.95).value == pytest.approx(0.8)


def test_what_nobody_knows_is_not_known() -> None:
    """Without a noise scale a larger batch is worth an unknown share, and a smaller one no less than its speed."""
    gain = Interval(2.0, 1.8, 2.2)
    larger = Recommendation(id="x", change="", prediction=predicted(gain), global_batch=256)
    smaller = larger.model_copy(update={"global_batch": 16})
    assert worth(larger, Goal.TIME_TO_ACCURACY, POINT, NOTHING, confidence=0.95) == NOTHING
    assert worth(smaller, Goal.TIME_TO_ACCURACY, POINT, NOTHING, confidence=0.95) == gain
    assert worth(Recommendation(id="x", change=""), Goal.THROUGHPUT, POINT, NOTHING, confidence=0.95) == NOTHING


def test_progress_is_known_where_the_batch_stays_or_the_noise_scale_is_known() -> None:
    gain = Interval(2.0, 1.8, 2.2)
    same = Recommendation(id="x", change="", prediction=predicted(gain))
    smaller = same.model_copy(update={"global_batch": 16})
    assert progress(same, POINT, NOTHING, confidence=0.95) == gain
    assert progress(smaller, POINT, NOTHING, confidence=0.95) == NOTHING
    assert progress(smaller, POINT, Interval(64.0), confidence=0.95).value == pytest.approx(2 * 128 / 80)
    assert progress(Recommendation(id="x", change=""), POINT, Interval(64.0), confidence=0.95) == NOTHING


def test_device_time_counts_ranks() -> None:
    """One process that has 0.7 times the throughput of four ranks takes 2.8 times less device-time a sample."""
    one = Recommendation(id="x", change="", prediction=predicted(Interval(0.7, 0.6, 0.8)), scale="1x1")
    found = worth(one, Goal.COST_PER_SAMPLE, POINT, NOTHING, confidence=0.95)
    assert (found.value, found.low, found.high) == pytest.approx((2.8, 2.4, 3.2))


def test_the_order_follows_the_goal() -> None:
    """More progress comes first where progress is requested, though what keeps the training comes first else."""
    kept = Recommendation(id="kept", change="", worth=Interval(1.2))
    batch = Recommendation(id="batch", change="", worth=Interval(1.5), changes=Changes.BATCH)
    unknown = Recommendation(id="unknown", change="")
    given = [unknown, batch, kept]

    def order(goal: Goal) -> list[str]:
        return [one.id for one in sorted(given, key=lambda one: one.order(goal))]

    assert order(Goal.THROUGHPUT) == ["kept", "unknown", "batch"]
    assert order(Goal.TIME_TO_ACCURACY) == ["batch", "kept", "unknown"]


def diagnoses_of(content: dict[str, Any], goal: str) -> dict[int, Diagnosis]:
    """Of strong scaling at 2 and 4 ranks: one process takes 10 ms, two 6.5 and four 5.5."""
    times = {("mlp", 1, 32): 0.010, ("mlp", 1, 16): 0.0050, ("mlp", 1, 8): 0.0026, ("mlp", 2, 16): 0.0065}
    times |= {("mlp", 4, 8): 0.0055, ("mlp", 2, 32): 0.0105, ("mlp", 4, 32): 0.011}
    study = content | {"repeats": 3, "scales": ["1x2", "1x4"], "report": {"goal": goal}}
    plan = make_plan(parse_study(study, source="x"))
    found = diagnosed(plan, summary_of(plan, {key: [time * f for f in NOISE] for key, time in times.items()}))
    return {d.world_size: d for d in found if d.scaling == "strong"}


def test_a_slower_scale_is_advised_where_it_costs_less(content: dict[str, Any]) -> None:
    """Four ranks are fastest. One process takes 10 ms of a device for what four take 22 ms of."""
    by_cost = diagnoses_of(content, "cost_per_sample")[4].recommendations[0][1]
    assert by_cost.id == "one_process" and by_cost.worth.value == pytest.approx(2.2, rel=0.02)
    assert by_cost.prediction is not None and by_cost.prediction.gain.value < 1
    for goal in ("throughput", "time_to_accuracy"):
        ids = [one.id for _, one in diagnoses_of(content, goal)[4].recommendations]
        assert "one_process" not in ids and "fewer_ranks" not in ids
