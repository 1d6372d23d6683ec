"""Cost of trying advice, its saving, and the number of trainings that repay it; or what is unknown."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Finding, Payback, Prediction, Recommendation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.payback import with_paybacks
from tried_advice import PATCH, TIMES

HOUR_S = 3600.0


def plan_of(content: dict[str, Any], **study: Any) -> Plan:
    return make_plan(parse_study(content | {"repeats": 3} | study, source="x"))


def payback_of(plan: Plan, *, gain: Interval | None = None, wall_time_s: float = 36.0, **advice: Any) -> Payback:
    """Of advice at two ranks, where every run takes 36 s and trains an hour in two epochs."""
    runs = study_of(plan, {key: [time] * 6 for key, time in TIMES.items()})
    runs = runs.assign(wall_time_s=wall_time_s, held_devices=nan)
    epochs = pd.DataFrame(
        [{"run_id": run, "epoch": epoch, "epoch_time_s": HOUR_S / 2} for run in plan.runs for epoch in (1, 2)]
    )
    prediction = gain and Prediction(
        step_time_s=NOTHING, gain=gain, speedup=NOTHING, efficiency=NOTHING, peak_memory_gib=nan, assumes="x"
    )
    given = {"id": "tried", "change": "Do it.", "patch": PATCH, "prediction": prediction} | advice
    finding = Finding(
        cause="a-cause", explanation="", evidence=(), refuted_by="", recommendations=(Recommendation(**given),)
    )
    first = diagnosed(plan, summary_frame(plan, runs))[0].model_copy(update={"findings": (finding,)})
    (found,) = with_paybacks(plan, [first], runs, epochs)
    paid = found.findings[0].recommendations[0].payback
    assert paid is not None
    return paid


def test_the_cost_is_that_of_the_launches_of_a_trial(content: dict[str, Any]) -> None:
    """Three repeats of the points before and after, of the baseline, and of one process at equal batch."""
    paid = payback_of(plan_of(content))
    alone, ranks = 36 / HOUR_S, 2 * 36 / HOUR_S
    assert paid.most_device_hours == pytest.approx(3 * (2 * alone + 2 * ranks))
    assert paid.least_device_hours == pytest.approx(paid.most_device_hours)
    more = payback_of(plan_of(content, max_repeats=6))
    assert more.least_device_hours == pytest.approx(paid.most_device_hours)
    assert more.most_device_hours == pytest.approx(2 * paid.most_device_hours)


def test_a_training_that_is_twice_as_fast_saves_half_of_its_device_hours(content: dict[str, Any]) -> None:
    paid = payback_of(plan_of(content), gain=Interval(2.0, 1.6, 2.5))
    assert paid.unknown == "none"
    assert paid.saved_device_hours.value == pytest.approx(1.0), "an hour of two ranks"
    assert paid.saved_device_hours.low == pytest.approx(2 * (1 - 1 / 1.6))
    assert paid.trainings.value == pytest.approx(paid.most_device_hours / 1.0)
    assert paid.trainings.low == pytest.approx(paid.most_device_hours / paid.saved_device_hours.high)


def test_one_process_saves_the_other_ranks_too(content: dict[str, Any]) -> None:
    paid = payback_of(
        plan_of(content), gain=Interval(1.0, 0.9, 1.1), id="one_process", patch=None, changes="ranks", scale="1x1"
    )
    assert paid.unknown == "none"
    assert paid.saved_device_hours.value == pytest.approx(1.0), "an hour of two devices less an hour of one"


@pytest.mark.parametrize(
    ("advice", "unknown"),
    [
        ({"gain": None}, "not_predicted"),
        ({"gain": Interval(1.05, 0.98, 1.1)}, "within_noise"),
        ({"gain": Interval(0.9, 0.8, 0.95)}, "nothing_saved"),
        ({"gain": Interval(2.0), "patch": None}, "no_trial"),
        ({"gain": Interval(2.0), "patch": {"scales": ["1x2", "1x4"]}}, "no_trial"),
        ({"gain": Interval(2.0), "wall_time_s": nan}, "cost_unknown"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_known_is_named(content: dict[str, Any], advice: dict[str, Any], unknown: str) -> None:
    paid = payback_of(plan_of(content), **advice)
    assert paid.unknown == unknown
    assert isnan(paid.trainings.value)
    assert isnan(paid.most_device_hours) == (unknown in ("no_trial", "cost_unknown"))


def test_the_length_of_a_training_is_not_known_where_none_trains_to_its_end(content: dict[str, Any]) -> None:
    content["workloads"]["mlp"]["epochs"] = 0
    assert payback_of(plan_of(content), gain=Interval(2.0)).unknown == "length_unknown"
    assert inf > payback_of(plan_of(content), gain=Interval(2.0)).most_device_hours > 0
