"""Predictions of recommendations: numbers that follow from the saving, and their order."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import Any

import pytest
from builders import book_of, diagnosed, results_of, rows_book, study_of, summary_of
from scalestudy.analyse.statistics.intervals import Interval, product
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.findings import FindingsFile, Recommendation
from scalestudy.diagnose.predict import BETWEEN_STUDIES, as_measured, peak_memory_at, saving
from scalestudy.diagnose.study import find_bottleneck
from scalestudy.publish.views.diagnoses import diagnoses_view
from scalestudy.publish.views.rows import rows_view
from scalestudy.registry.codes import Goal
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

# One process: 1 ms at 32 samples, 0.6 ms at 16: 0.2 ms and 25 us a sample. Two ranks: 3.4 ms more.
SLOW = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0044}


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content | {"repeats": 3}, source="x"))


def case_of(plan: Plan, **seen: Any) -> Case:
    """Strong scaling on two ranks, with these columns."""
    summary = summary_of(plan, {key: [time] * 3 for key, time in SLOW.items()})
    row = (summary["scaling"] == "strong") & (summary["world_size"] == 2)
    for name, value in seen.items():
        summary.loc[row, name] = value
    forecasts = summary.iloc[:0]
    return next(c for c in make_cases(plan.study, summary, forecasts) if c.point["scaling"] == "strong")


def test_what_is_saved_is_gained(plan: Plan) -> None:
    """1 ms of 4 ms: a step of 3 ms, 4/3 of the throughput and of the speedup, which was 1 ms / 4 ms."""
    found = saving(case_of(plan), Interval(0.001, 0.0005, 0.0015), "if it holds")
    step_time = Interval(0.003, 0.0025, 0.0035).widened(BETWEEN_STUDIES)
    assert vars(found.step_time_s) == pytest.approx(vars(step_time))
    assert vars(found.gain) == pytest.approx(vars(step_time.inverse(0.004)))
    assert found.speedup.value == pytest.approx(0.25 * 4 / 3)
    assert found.efficiency.value == pytest.approx(0.125 * 4 / 3)
    assert found.speedup.low < found.speedup.value < found.speedup.high
    assert found.peak_memory_gib == 0.5


def test_without_limits_of_what_is_saved_there_are_none_of_the_gain(plan: Plan) -> None:
    found = saving(case_of(plan), Interval(0.001), "if it holds")
    assert found.gain.value == pytest.approx(4 / 3)
    assert isnan(found.gain.low)
    assert isnan(found.speedup.high)


def test_nothing_takes_no_time(plan: Plan) -> None:
    """The saving may be so uncertain that its upper limit exceeds the step."""
    found = saving(case_of(plan), Interval(0.003, 0.001, 0.009), "if it holds")
    assert 0 < found.step_time_s.low < found.step_time_s.value < found.step_time_s.high


def test_one_process_gains_what_the_speedup_says(plan: Plan) -> None:
    """With its limits: the two were compared within repeats, and these times on their own are less certain."""
    wide = {f"step_time_s{end}": 0.004 * by for end, by in (("", 1), ("_low", 0.5), ("_high", 2))}
    case = case_of(plan, **wide, speedup=0.25, speedup_low=0.2, speedup_high=0.4)
    found = as_measured(case, case.base).gain
    assert vars(found) == pytest.approx(vars(Interval(4, 2.5, 5).widened(BETWEEN_STUDIES)))


def test_limits_of_a_product_add_in_quadrature() -> None:
    """e^0.3 and e^0.4 about 1: e^0.5."""
    found = product(Interval(1, 1 / 1.34986, 1.34986), Interval(2, 2 / 1.49182, 2 * 1.49182))
    assert found.value == 2
    assert found.high / 2 == pytest.approx(1.64872, rel=1e-4)
    assert 2 / found.low == pytest.approx(1.64872, rel=1e-4)
    assert isnan(product(Interval(1), Interval(2, 1, 3)).low)


def test_what_differs_between_studies_is_added_in_quadrature() -> None:
    """e^0.3 about 2, with 0.4 more: e^0.5. Without anything to add the limits stay."""
    found = Interval(2, 2 / 1.34986, 2 * 1.34986)
    wider = found.widened(0.4)
    assert (wider.value, wider.low, wider.high) == pytest.approx((2, 2 / 1.64872, 2 * 1.64872), rel=1e-4)
    assert found.widened(0.0).high == pytest.approx(found.high)
    assert isnan(Interval(2).widened(0.4).low)


def test_memory_at_another_batch_follows_one_process(plan: Plan) -> None:
    """0.4 GiB at 16 samples and 0.6 at 32 of one process: 0.2 more for 16 more samples."""
    case = case_of(plan)
    alone = case.alone.assign(peak_resident_gib=[0.4 if b == 16 else 0.6 for b in case.alone["batch_per_rank"]])
    assert peak_memory_at(replace(case, alone=alone), 32) == pytest.approx(0.5 + 0.2)
    assert isnan(peak_memory_at(replace(case, alone=alone.iloc[:1]), 32))


def test_what_keeps_the_work_comes_first_and_then_what_gains_most(plan: Plan) -> None:
    case = case_of(plan)

    def saved(seconds: float) -> Any:
        return saving(case, Interval(seconds), "")

    wanted = [
        Recommendation(id="much", change="", prediction=saved(0.002)),
        Recommendation(id="little", change="", prediction=saved(0.001)),
        Recommendation(id="unknown", change="", unpredicted="not measured."),
        Recommendation(id="fewer", change="", prediction=saved(0.0005), changes="ranks"),
        Recommendation(id="larger", change="", prediction=saved(0.003), changes="batch"),
        Recommendation(id="other", change="", unpredicted="not measured.", changes="batch"),
    ]
    wanted = [case.accepted(one) for one in wanted]
    shuffled = [wanted[at] for at in (3, 1, 5, 4, 0, 2)]
    assert sorted(shuffled, key=lambda one: one.order(Goal.THROUGHPUT)) == wanted


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        ({}, "communication"),
        ({"data_time_s": 0.003}, "input"),
        ({"logging_time_s": 0.003}, "bookkeeping"),
        ({"lateness_s": 0.003, "late_share": 0.95}, "straggler"),
        ({"lateness_s": 0.003, "late_share": 0.55}, "communication"),
        ({"differential_s": 0.0001}, "compute"),
        ({"overhead_s": nan}, ""),
        ({"launches_ok": 0, "launches_oom": 3}, "memory"),
        ({"launches_ok": 0, "launches_failed": 3}, ""),
    ],
)
def test_the_bottleneck_is_what_takes_most_of_the_step(plan: Plan, seen: dict[str, Any], kind: str) -> None:
    found = find_bottleneck(case_of(plan, **seen))
    assert found.kind == kind
    if found.shares:
        assert sum(found.shares.values()) == pytest.approx(1)


def test_a_step_that_does_not_shrink_is_bound_by_launches(plan: Plan) -> None:
    """One process: 0.98 of 1 ms whatever the batch; of two ranks' 1.1 ms that is most."""
    case = case_of(plan, step_time_s=0.0011, overhead_s=0.0001)
    alone = case.alone.assign(step_time_s=[0.00099 if b == 16 else 0.0010 for b in case.alone["batch_per_rank"]])
    found = find_bottleneck(replace(case, alone=alone, point=case.point))
    assert found.kind == "launch"


def test_the_documents_say_what_the_json_says(plan: Plan) -> None:
    times = {key: [time * f for f in (1.0, 1.01, 0.99)] for key, time in SLOW.items()}
    summary = summary_of(plan, times)
    written = FindingsFile(study="x", diagnoses=tuple(diagnosed(plan, summary))).model_dump_json()
    plain = FindingsFile.model_validate_json(written).diagnoses
    rows = rows_view(plan, summary, rows_book(summary))
    book = book_of(plan, results_of(plan, study_of(plan, times), summary))
    (view,) = (v for v in diagnoses_view(plain, rows, book) if v["scaling"] == "strong")
    (given,) = (d for d in plain if d.scaling == "strong")
    assert view["causes"] == "comm-bound", "what weighs less than 0.1 is left to the findings"
    assert len(view["findings"]) == len(given.named)
    for finding in view["findings"]:
        weight = given.weights.get(finding["cause"])
        assert finding["weight"] == ("" if weight is None else f" ({weight:.2f})")
    assert given.weights["comm-bound"] < 1
    assert view["limited_by"].startswith("communication (communication 85 %, ")
    assert [one.id for _, one in given.recommendations] == ["one_process", "larger_batch"]
    measured, predicted = view["recommendations"][:2]  # those of causes that are only possible follow
    assert measured["prediction"].startswith("Measured: 4.0")
    assert predicted["prediction"].startswith("Predicted: 1.")
    assert "from 32 to 40 samples" in predicted["change"]
    assert "GiB per rank" in measured["prediction"]
