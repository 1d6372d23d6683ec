"""From steps to rows: warm-up, the slowest rank, ratios, and every run accounted for."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import observation, runs_of, study_of, summary_of
from scalestudy.cli.results.inputs import table_of
from scalestudy.registry.codes import LAUNCH_ENDS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


TIMES = {
    ("mlp", 1, 32): [0.010, 0.010],
    ("mlp", 1, 16): [0.006, 0.006],
    ("mlp", 2, 16): [0.008, 0.008],
    ("mlp", 2, 32): [0.0125, 0.0125],
}


def row(summary: pd.DataFrame, scaling: str, world_size: int) -> pd.Series:
    found = summary[(summary["scaling"] == scaling) & (summary["world_size"] == world_size)]
    assert len(found) == 1
    return found.iloc[0]


def test_ratios_of_strong_and_weak_scaling(plan: Plan) -> None:
    summary = summary_of(plan, TIMES)
    strong, weak = row(summary, "strong", 2), row(summary, "weak", 2)
    assert strong["throughput_samples_per_s"] == pytest.approx(32 / 0.008)
    assert strong["speedup"] == pytest.approx(0.010 / 0.008)
    assert strong["efficiency"] == pytest.approx(0.625)
    assert strong["karp_flatt"] == pytest.approx((1 / 1.25 - 1 / 2) / (1 - 1 / 2))
    assert weak["speedup"] == pytest.approx(2 * 0.010 / 0.0125)
    assert isnan(weak["karp_flatt"]), "the serial fraction is defined for fixed work only"


def test_overhead_is_against_one_process_at_equal_batch_per_rank(plan: Plan) -> None:
    summary = summary_of(plan, TIMES)
    assert row(summary, "strong", 2)["overhead_s"] == pytest.approx(0.008 - 0.006)
    assert row(summary, "weak", 2)["overhead_s"] == pytest.approx(0.0125 - 0.010)
    assert row(summary, "strong", 2)["overhead_share"] == pytest.approx(0.25)


def test_the_base_case_is_a_row_of_each_scaling_with_its_absolute_numbers(plan: Plan) -> None:
    summary = summary_of(plan, TIMES)
    for scaling in ("strong", "weak"):
        base = row(summary, scaling, 1)
        assert base["is_base"]
        assert base["speedup"] == 1
        assert base["step_time_s"] == pytest.approx(0.010)
    assert not row(summary, "reference", 1)["is_base"]


def test_throughput_speedup_and_step_time_agree_exactly(plan: Plan) -> None:
    noisy = {key: [value[0], value[0] * (1.05 + 0.01 * at)] for at, (key, value) in enumerate(TIMES.items())}
    summary = summary_of(plan, noisy)
    base, weak = row(summary, "weak", 1), row(summary, "weak", 2)
    ratio = weak["throughput_samples_per_s"] / base["throughput_samples_per_s"]
    assert weak["speedup"] == pytest.approx(ratio, rel=1e-12)
    assert weak["throughput_samples_per_s"] == pytest.approx(weak["global_batch"] / weak["step_time_s"], rel=1e-12)
    assert weak["speedup_low"] < weak["speedup"] < weak["speedup_high"]


def ended(row: pd.Series) -> dict[str, int]:
    return {end: row[f"launches_{end}"] for end in LAUNCH_ENDS if row[f"launches_{end}"]}


def test_failed_launches_are_counted_by_their_outcome(plan: Plan) -> None:
    summary = summary_of(plan, TIMES | {("mlp", 2, 16): [0.008, "oom"], ("mlp", 2, 32): ["oom", "timeout"]})
    strong, weak = row(summary, "strong", 2), row(summary, "weak", 2)
    assert ended(strong) == {"ok": 1, "oom": 1}
    assert strong["speedup"] == pytest.approx(1.25)
    assert isnan(strong["speedup_low"]), "one launch is left: no interval"
    assert ended(weak) == {"oom": 1, "timeout": 1}
    assert isnan(weak["speedup"])


def test_a_failed_base_case_leaves_no_speedup_but_keeps_the_step_time(plan: Plan) -> None:
    strong = row(summary_of(plan, TIMES | {("mlp", 1, 32): ["failed", "failed"]}), "strong", 2)
    assert isnan(strong["speedup"])
    assert strong["step_time_s"] == pytest.approx(0.008)


def test_step_time_is_that_of_the_slowest_rank_by_whole_blocks(plan: Plan) -> None:
    """One hiccup of 10 ms is a long step on the rank that had it, and on the other rank a step later, waiting.

    The maximum over ranks step by step would count it twice; the block counts it once.
    """
    spec = next(s for s in plan.runs.values() if s.world_size == 2)
    first, second = [0.001] * 40, [0.001] * 40
    first[25] = 0.011
    second[26] = 0.011
    runs = runs_of(plan.study, [observation(spec, [first, second])])
    assert runs.loc[0, "step_time_s"] == pytest.approx((30 * 0.001 + 0.010) / 30)
    assert runs.loc[0, "step_time_p99_s"] > 0.010


def test_warm_up_is_dropped_and_never_below_the_minimum(plan: Plan) -> None:
    spec = next(s for s in plan.runs.values() if s.world_size == 1)
    slow_start = [0.05] * 12 + [0.001] * 88
    runs = runs_of(plan.study, [observation(spec, [slow_start])])
    assert runs.loc[0, "warmup_steps"] == 15  # in fives, as MSER-5 looks
    assert runs.loc[0, "step_time_s"] == pytest.approx(0.001)
    constant = runs_of(plan.study, [observation(spec, [[0.001] * 100])])
    assert constant.loc[0, "warmup_steps"] == spec.measure.warmup_steps == 10


def test_a_run_too_short_to_be_steady_is_said_to_be(plan: Plan) -> None:
    runs = study_of(plan, TIMES)
    spec = next(iter(plan.runs.values()))
    short = runs_of(plan.study, [observation(spec, [[0.001] * 8] * spec.world_size)])
    assert isnan(short.loc[0, "step_time_s"])
    assert short.loc[0, "outcome"] == "ok"
    assert runs["step_time_s"].notna().all()


def test_threads_per_core_counts_all_ranks_of_a_host(plan: Plan) -> None:
    spec = next(s for s in plan.runs.values() if s.world_size == 2)
    shared = runs_of(plan.study, [observation(spec, [[0.001] * 40] * 2, threads=2, cores=[[0, 1], [0, 1]])])
    assert shared.loc[0, "threads_per_core"] == 2.0
    own = runs_of(plan.study, [observation(spec, [[0.001] * 40] * 2)])
    assert own.loc[0, "threads_per_core"] == 1.0


@pytest.mark.parametrize("launches", [1, 2])
def test_accuracy_has_the_range_of_several_launches(content: dict[str, Any], launches: int) -> None:
    plan = make_plan(parse_study(content | {"repeats": launches}, source="x"))
    found = row(summary_of(plan, {key: times[:launches] for key, times in TIMES.items()}), "strong", 2)
    assert found["validation_accuracy"] == pytest.approx(0.9)
    assert isnan(found["validation_accuracy_min"]) == isnan(found["validation_accuracy_max"]) == (launches == 1)


def test_names_that_look_like_nothing_are_names(content: dict[str, Any], tmp_path: Path) -> None:
    content["variants"] = {
        "single": {"strategy": "single"},
        "null": {"strategy": "ddp"},
    }
    content["workloads"] = {"nan": content["workloads"]["mlp"]}
    plan = make_plan(parse_study(content, source="x"))
    summary = summary_of(plan, {("nan", *key[1:]): times for key, times in TIMES.items()})
    summary.to_csv(tmp_path / "comprehensive_summary.csv", index=False)
    read = table_of(tmp_path, "summary")
    assert read["variant"].tolist() == summary["variant"].tolist()
    assert set(read["workload"]) == {"nan"}
    assert read["speedup"].isna().tolist() == summary["speedup"].isna().tolist()
