"""Launches of several measurement protocols: none that are not comparable come into one number."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, facts_of, page_of, results_of, study_of
from scalestudy.analyse.forecast.forecasts import forecasts_frame
from scalestudy.analyse.point.rows import alone_by_batch
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import mean, mean_on_logs
from scalestudy.analyse.study.compare import Source, compare_studies
from scalestudy.record import protocol
from scalestudy.record.protocol import CURRENT, EVERYTHING, PROTOCOLS, Protocol
from scalestudy.registry.codes import AccuracyKept, NotCompared, Refused
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

GROWTH = {
    "memory_growth_rank": 0,
    "memory_growth_kind": "resident",
    "memory_growth_gib_per_1000_steps": 0.2,
    "memory_growth_gib_per_1000_steps_low": 0.1,
    "memory_growth_gib_per_1000_steps_high": 0.3,
}
TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0103, 0.0101, 0.0102],
    ("mlp", 1, 16): [0.0060, 0.0062, 0.0061, 0.0060],
    ("mlp", 1, 8): [0.0040, 0.0041, 0.0040, 0.0042],
    ("mlp", 2, 16): [0.0079, 0.0085, 0.0081, 0.0082],
    ("mlp", 2, 32): [0.0131, 0.0139, 0.0134, 0.0133],
    ("mlp", 4, 8): [0.0059, 0.0061, 0.0060, 0.0058],
    ("mlp", 4, 32): [0.0151, 0.0149, 0.0154, 0.0153],
}


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content | {"repeats": 4, "scales": ["1x2", "1x4"]}, source="x"))


@pytest.fixture
def runs(plan: Plan) -> pd.DataFrame:
    """runs.csv, with memory that differs from launch to launch."""
    runs = study_of(plan, TIMES)
    seen = {"protocol": 1, "peak_resident_gib": runs["repeat"].astype(float), "memory_grows": True}
    return runs.assign(**seen, **GROWTH)


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that adds a second protocol with these columns not comparable."""

    def add(*columns: str, strategies: tuple[str, ...] = ()) -> None:
        changed = Protocol(2, "a day", "Otherwise.", columns, strategies)
        monkeypatch.setattr(protocol, "PROTOCOLS", (*PROTOCOLS[:1], changed))
        monkeypatch.setattr(protocol, "CURRENT", 2)

    return add


def row(summary: pd.DataFrame, scaling: str, ranks: int) -> pd.Series:
    (found,) = [row for _, row in summary.iterrows() if (row["scaling"], row["world_size"]) == (scaling, ranks)]
    return found


def of_protocol(runs: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """Where the chosen runs were measured by protocol 2."""
    return runs.assign(protocol=chosen.map({True: 2, False: 1}))


def test_a_row_is_of_the_newest_protocol_where_step_times_do_not_compare(
    plan: Plan, runs: pd.DataFrame, second: Callable
) -> None:
    second(EVERYTHING)
    found = row(summary_frame(plan, of_protocol(runs, runs["repeat"] > 2)), "strong", 2)
    assert (found["launches"], found["launches_ok"], found["launches_left_out"], found["protocol"]) == (4, 2, 2, 2)
    times, base = TIMES["mlp", 2, 16][2:], TIMES["mlp", 1, 32][2:]
    alone = mean_on_logs(times, confidence=0.95)
    assert (found["step_time_s_low"], found["step_time_s_high"]) == pytest.approx((alone.low, alone.high))
    ratio = ratio_in_blocks(pd.Series(base), pd.Series(times), planned=4, confidence=0.95)
    assert (found["speedup"], found["speedup_low"]) == pytest.approx((ratio.value, ratio.low))
    assert found["peak_resident_gib"] == 4


def test_blocks_of_a_protocol_that_is_left_out_are_in_no_interval(
    content: dict[str, Any], second: Callable
) -> None:
    """With 9 runs on each side the bootstrap draws blocks; blocks of the run left out are absurd."""
    second(EVERYTHING)
    plan = make_plan(parse_study(content | {"repeats": 9}, source="x"))
    runs = study_of(plan, {key: [*values, *values, values[0]] for key, values in TIMES.items()})
    blocks = {run: [time, time * 1.01] for run, time in zip(runs["run_id"], runs["step_time_s"], strict=True)}
    without = runs.assign(outcome=runs["outcome"].where(runs["repeat"] > 1, "failed"))
    expected = row(summary_frame(plan, without, blocks), "strong", 2)
    assert expected["interval"] == "hierarchical_bootstrap"
    older = runs.loc[runs["repeat"] == 1, "run_id"]
    mixed = of_protocol(runs, runs["repeat"] > 1)
    absurd = {run: [100.0, 100.0] for run in older}
    found = row(summary_frame(plan, mixed, blocks | absurd), "strong", 2)
    for name in ("speedup", "speedup_low", "speedup_high", "step_time_s_low", "efficiency_high"):
        assert found[name] == pytest.approx(expected[name])


def test_a_column_that_does_not_compare_is_of_the_newest_protocol_alone(
    plan: Plan, runs: pd.DataFrame, second: Callable
) -> None:
    second("peak_resident_gib", "data_time_s", "memory_grows")
    mixed = of_protocol(runs, runs["repeat"] > 2)
    mixed.loc[mixed["protocol"] == 2, "memory_grows"] = False
    found = row(summary_frame(plan, mixed), "strong", 2)
    assert (found["launches_ok"], found["launches_left_out"]) == (4, 0)
    assert found["speedup"] == pytest.approx(row(summary_frame(plan, runs), "strong", 2)["speedup"])
    assert (found["peak_resident_gib"], found["launches_growing"]) == (4, 0)
    newest = mean([0.1 * time for time in TIMES["mlp", 2, 16][2:]], confidence=0.95)
    limits = (found["data_time_s"], found["data_time_s_low"], found["data_time_s_high"])
    assert limits == pytest.approx((newest.value, newest.low, newest.high))


def test_a_base_case_of_another_protocol_has_no_ratio(plan: Plan, runs: pd.DataFrame, second: Callable) -> None:
    second(EVERYTHING)
    mixed = of_protocol(runs, runs["world_size"] == 1)
    summary = summary_frame(plan, mixed)
    found = row(summary, "strong", 2)
    assert found["launches_ok"] == 4
    for name in ("speedup", "efficiency", "overhead_s", "step_time_alone_s", "accuracy_difference"):
        assert isnan(found[name])
    assert found["accuracy_kept"] == AccuracyKept.NONE
    assert alone_by_batch(summary, found).empty
    for diagnosis in diagnosed(plan, summary):
        assert diagnosis.verdict == "confounded"
        (finding,) = diagnosis.findings
        assert "protocol 1 here and with protocol 2 for the baseline" in finding.explanation
        assert (finding.evidence[0].value, finding.evidence[0].threshold) == (1, "2 for the baseline")
        assert "scalestudy retry RESULTS --protocol" in finding.recommendations[0].change


def test_documents_say_which_runs_are_older_and_what_changed(
    plan: Plan, runs: pd.DataFrame, second: Callable
) -> None:
    second(EVERYTHING)
    mixed = of_protocol(runs, (runs["world_size"] == 1) | (runs["repeat"] == 4))
    summary = summary_frame(plan, mixed)
    facts = facts_of(plan, summary, mixed)
    older = int((mixed["protocol"] == 1).sum())
    assert f"Measured {older} by protocol 1" in facts["protocols"][0]
    assert facts["protocols"][1].startswith("Protocol 2 (a day): Otherwise.")
    notes = [str(note) for printed in facts["rows"] for note in printed["notes"]]
    left_out = "3 runs of older measurement protocols are left out: they are not comparable with protocol 2"
    assert left_out in notes
    assert "Measurement protocols" in page_of(plan, results_of(plan, mixed, summary))


def test_documents_say_nothing_of_protocols_where_all_are_current(plan: Plan, runs: pd.DataFrame) -> None:
    current = runs.assign(protocol=CURRENT)
    facts = facts_of(plan, summary_frame(plan, current), current)
    assert facts["protocols"] == []
    page, glossary, _ = page_of(plan, results_of(plan, current)).partition('class="glossary"')
    assert glossary
    assert "protocol" not in page


def test_a_page_of_rows_without_a_ratio_can_be_made(plan: Plan, runs: pd.DataFrame, second: Callable) -> None:
    second(EVERYTHING)
    mixed = of_protocol(runs, runs["world_size"] == 1)
    assert "confounded" in page_of(plan, results_of(plan, mixed)).lower()


@pytest.fixture
def of_fsdp(content: dict[str, Any], second: Callable) -> tuple[Plan, pd.DataFrame]:
    """A study with FSDP beside DDP, and its runs; the second protocol changed FSDP alone."""
    variants = content["variants"] | {"fsdp": {"strategy": "fsdp", "base": "single"}}
    content |= {"variants": variants, "repeats": 4, "scales": ["1x2", "1x4"]}
    plan = make_plan(parse_study(content, source="x"))
    second(EVERYTHING, strategies=("fsdp",))
    return plan, study_of(plan, TIMES)


def test_where_a_protocol_changed_fsdp_alone_only_its_rows_are_held_apart(
    of_fsdp: tuple[Plan, pd.DataFrame],
) -> None:
    plan, runs = of_fsdp
    same = summary_frame(plan, runs.assign(protocol=1)).drop(columns="protocol")
    mixed = summary_frame(plan, of_protocol(runs, runs["repeat"] > 2))
    others = same["strategy"] != "fsdp"
    pd.testing.assert_frame_equal(mixed[others].drop(columns="protocol"), same[others])
    fsdp = mixed[mixed["strategy"] == "fsdp"]
    assert len(fsdp) > 1
    assert (fsdp["launches_ok"] == 2).all()
    assert (fsdp["launches_left_out"] == 2).all()


@pytest.mark.parametrize("newer", ["fsdp", pytest.param("others", marks=pytest.mark.slow)])
def test_rows_of_fsdp_have_a_ratio_to_base_cases_of_either_protocol(
    newer: str, of_fsdp: tuple[Plan, pd.DataFrame]
) -> None:
    plan, runs = of_fsdp
    expected = summary_frame(plan, runs.assign(protocol=1))
    mixed = summary_frame(plan, of_protocol(runs, (runs["strategy"] == "fsdp") == (newer == "fsdp")))
    pd.testing.assert_frame_equal(mixed.drop(columns="protocol"), expected.drop(columns="protocol"))
    assert mixed.loc[mixed["world_size"] > 1, "speedup"].notna().all()
    assert "confounded" not in {diagnosis.verdict for diagnosis in diagnosed(plan, mixed)}
    refused = forecasts_frame(plan.study, mixed)["refused"]
    assert Refused.OTHER_PROTOCOLS not in set(refused)


def test_scales_of_fsdp_of_both_protocols_have_no_forecast(of_fsdp: tuple[Plan, pd.DataFrame]) -> None:
    plan, runs = of_fsdp
    mixed = summary_frame(plan, of_protocol(runs, runs["world_size"] == 4))
    found = forecasts_frame(plan.study, mixed)
    found = found[found["forecast_of"] == "scale"]
    refused = {variant: set(rows["refused"]) for variant, rows in found.groupby("variant")}
    assert refused["fsdp"] == {Refused.OTHER_PROTOCOLS}
    assert Refused.OTHER_PROTOCOLS not in refused["ddp"]


def test_a_protocol_that_compares_changes_no_number(plan: Plan, runs: pd.DataFrame, second: Callable) -> None:
    second("all_reduce_latency_s")
    mixed = summary_frame(plan, of_protocol(runs, runs["repeat"] > 2))
    same = summary_frame(plan, runs)
    pd.testing.assert_frame_equal(mixed.drop(columns="protocol"), same.drop(columns="protocol"))


def test_a_forecast_from_scales_of_several_protocols_is_refused(
    plan: Plan, runs: pd.DataFrame, second: Callable
) -> None:
    second(EVERYTHING)
    summary = summary_frame(plan, of_protocol(runs, runs["world_size"] == 4))
    found = forecasts_frame(plan.study, summary)
    refused = found.loc[found["forecast_of"] == "scale", "refused"]
    assert len(refused) > 0
    assert set(refused) == {Refused.OTHER_PROTOCOLS}


def test_studies_of_protocols_that_do_not_compare_are_not_compared(
    plan: Plan, runs: pd.DataFrame, second: Callable
) -> None:
    second(EVERYTHING)
    later = runs.assign(protocol=2)
    sources = [
        Source(letter, letter, "", plan, summary_frame(plan, frame), frame, environment={})
        for letter, frame in (("A", runs), ("B", later))
    ]
    points = compare_studies(sources).points
    others = points[points["study"] == "B"]
    assert set(others["not_compared"]) == {NotCompared.OTHER_PROTOCOL}
    assert others["throughput_ratio"].isna().all()
