"""Joules of a sample from counters at the ends of blocks, and the shares of readings with a limited clock."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pandas as pd
import pytest
from builders import book_of, observation, page_of, printed_of, results_of, runs_of
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.energy import energy_row
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.reduce import reduce_run
from scalestudy.publish.tables.view import table_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.observation import BLOCK_COLUMNS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import RunSpec

STEP_S, WATTS, CPU_WATTS, BLOCK, BLOCKS = 0.1, 350.0, 90.0, 10, 8
THERMAL, POWER, HARDWARE = 0x20, 0x04, 0x08


@pytest.fixture
def plan() -> Plan:
    content = small_content(repeats=3, workloads={"mlp": mlp_workload(scaling=["strong"])})
    return make_plan(parse_study(content, source="x"))


def blocks_of(spec: RunSpec, *, watts: float = WATTS, **changes: Any) -> pd.DataFrame:
    """A reading a second at a constant power, as BLOCKS blocks of steps leave them; changes: whole columns."""
    rows = [
        {
            **dict.fromkeys(BLOCK_COLUMNS, nan),
            **{"rank": rank, "block": block, "phase": "measured", "first_step": BLOCK * block, "steps": BLOCK},
            "gpu_slowdown_reasons": 0.0,
            "gpu_energy_j": 5e6 * (rank + 1) + watts * STEP_S * BLOCK * (block + 1),
            "cpu_energy_j": CPU_WATTS * STEP_S * BLOCK * (block + 1) if rank == 0 else nan,
        }
        for rank in range(spec.world_size)
        for block in range(BLOCKS)
    ]
    return pd.DataFrame(rows).assign(**changes)


def row_of(plan: Plan, spec: RunSpec, blocks: pd.DataFrame) -> dict[str, Any]:
    times = [[STEP_S] * (BLOCK * BLOCKS)] * spec.world_size
    made = observation(spec, times, tables_given={"blocks": blocks})
    return reduce_run(plan.study, made).row


def two_ranks(plan: Plan) -> RunSpec:
    return next(spec for spec in plan.runs.values() if spec.world_size == 2)


def test_power_times_the_step_over_its_samples(plan: Plan) -> None:
    spec = two_ranks(plan)
    row = row_of(plan, spec, blocks_of(spec))
    assert row["energy_per_sample_j"] == pytest.approx(2 * WATTS * STEP_S / spec.global_batch)
    assert row["cpu_energy_per_sample_j"] == pytest.approx(CPU_WATTS * STEP_S / spec.global_batch)


def test_a_reading_now_and_then_and_an_outlier_in_the_warm_up_change_nothing(plan: Plan) -> None:
    spec = two_ranks(plan)
    blocks = blocks_of(spec)
    blocks.loc[blocks["block"].isin([1, 3, 4]), "gpu_energy_j"] = nan
    assert row_of(plan, spec, blocks)["energy_per_sample_j"] == pytest.approx(2 * WATTS * 0.1 / spec.global_batch)
    blocks = blocks_of(spec)
    warm = blocks["block"] == 0
    blocks.loc[warm, ["phase", "steps", "gpu_energy_j"]] = ["warmup", 1, 0.0]  # ends before the warm-up does
    assert row_of(plan, spec, blocks)["energy_per_sample_j"] == pytest.approx(2 * WATTS * 0.1 / spec.global_batch)


def test_validation_between_epochs_is_not_in_it(plan: Plan) -> None:
    spec = two_ranks(plan).model_copy(update={"epochs": 2})
    late = blocks_of(spec)
    late.loc[late["block"] >= 4, "gpu_energy_j"] += 9000.0  # what a validation took
    made = observation(spec, [[STEP_S] * (BLOCK * BLOCKS)] * 2, tables_given={"blocks": late})
    made.steps.loc[made.steps["block"] >= 4, "epoch"] = 2
    found = reduce_run(plan.study, made).row["energy_per_sample_j"]
    assert found == pytest.approx(2 * WATTS * STEP_S / spec.global_batch)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda blocks: blocks.drop(columns=["gpu_slowdown_reasons", "gpu_energy_j", "cpu_energy_j"]),  # of 0.9
        lambda blocks: blocks.assign(gpu_energy_j=blocks["gpu_energy_j"].where(blocks["rank"] == 0)),  # one tells
        lambda blocks: blocks[blocks["block"] < 2],  # 1 s between two readings
        lambda blocks: blocks.assign(gpu_energy_j=7.0),  # a counter that does not count
    ],
)
def test_nothing_is_said_of_what_is_not_known(plan: Plan, spoil: Any) -> None:
    spec = two_ranks(plan)
    assert isnan(row_of(plan, spec, spoil(blocks_of(spec)))["energy_per_sample_j"])


def test_heat_and_a_power_limit_are_told_apart(plan: Plan) -> None:
    spec = two_ranks(plan)
    blocks = blocks_of(spec)
    hot = (blocks["rank"] == 1) & (blocks["block"] >= 4)
    blocks.loc[hot, "gpu_slowdown_reasons"] = THERMAL | HARDWARE
    blocks.loc[blocks["rank"] == 0, "gpu_slowdown_reasons"] = POWER
    row = row_of(plan, spec, blocks)
    shares = [row[f"{kind}_share"] for kind in ("thermal_slowdown", "power_cap", "hardware_slowdown")]
    assert shares == [0.5, 1.0, 0.5]
    told = energy_row(
        pd.DataFrame([row | {"repeat": 1}] * 2 + [row | {"thermal_slowdown_share": 0.4}]), plan.study
    )
    assert (told["launches_hot"], told["power_cap_share"]) == (2, 1.0)


def documents(plan: Plan, **changes: Any) -> tuple[pd.DataFrame, str, str, str]:
    """(summary, text report, page, the summary table) of runs with slightly different power."""
    made = [
        observation(
            spec,
            [[STEP_S] * (BLOCK * BLOCKS)] * spec.world_size,
            tables_given={"blocks": blocks_of(spec, watts=WATTS + spec.repeat, **changes)},
        )
        for spec in plan.runs.values()
    ]
    runs = runs_of(plan.study, made)
    summary = summary_frame(plan, runs)
    results = results_of(plan, runs, summary)
    printed = printed_of(plan, results)
    text = render(DIRECTORY / "performance_report.txt", **printed)
    assert max(map(len, text.splitlines())) <= 80
    return summary, text, page_of(plan, results), summary_table(plan, results)


def summary_table(plan: Plan, results: Any) -> str:
    view = table_view(plan, results.summary, book_of(plan, results), "summary")
    return render(DIRECTORY / "table.tex", **view)


def test_a_point_has_an_interval_and_is_printed(plan: Plan) -> None:
    summary, text, page, table = documents(plan)
    point = summary[summary["world_size"] == 2].iloc[0]
    mean = 2 * (WATTS + 2) * STEP_S / point["global_batch"]
    assert point["energy_per_sample_j"] == pytest.approx(mean, rel=1e-4)
    assert point["energy_per_sample_j_low"] < mean < point["energy_per_sample_j_high"]
    assert "J per sample, all GPUs" in text
    assert "J per sample, all hosts" in text
    assert "GPU energy (J/sample)" in page
    assert "Energy" in table


def test_documents_are_silent_where_nothing_is_known(plan: Plan) -> None:
    summary, text, page, table = documents(plan, gpu_energy_j=nan, cpu_energy_j=nan, gpu_slowdown_reasons=nan)
    assert summary["energy_per_sample_j"].isna().all()
    assert "nergy" not in text
    assert "energy (J/sample)" not in page
    assert "nergy" not in table


def test_runs_of_an_earlier_release_are_read(plan: Plan) -> None:
    told = energy_row(pd.DataFrame({"repeat": [1, 2], "protocol": 2, "step_time_s": 0.1}), plan.study)
    assert isnan(told["energy_per_sample_j"])
    assert isnan(told["thermal_slowdown_share"])
    assert told["launches_hot"] == 0
