"""What a row says of its work and its settings: parameters, arithmetic, bytes, micro-batches."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd
from builders import summary_of
from scalestudy.publish.measured import work_view
from scalestudy.publish.view import rows_view
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan


def test_work_is_said_with_its_units_and_only_as_far_as_it_is_known() -> None:
    row = {
        "parameters": 42e6,
        "flops_per_sample": 250e6,
        "throughput_samples_per_s": 8000.0,
        "world_size": 2,
        "bytes_sent_per_step": 168e6,
    }
    assert work_view(pd.Series(row)) == (
        "42 M parameters; 250 MFLOP a sample, 1 TFLOP/s a rank; each rank sends 160 MiB a step"
    )
    unknown = row | {"flops_per_sample": nan, "bytes_sent_per_step": 0.0}
    assert work_view(pd.Series(unknown)) == "42 M parameters"
    not_measured = row | {"throughput_samples_per_s": nan}
    assert (
        work_view(pd.Series(not_measured)) == "42 M parameters; 250 MFLOP a sample; each rank sends 160 MiB a step"
    )


def test_rows_name_micro_batches_and_what_differs_from_the_defaults(content: dict[str, Any]) -> None:
    content["variants"]["ddp"] |= {"accumulation_steps": 4, "compile": True, "ddp": {"bucket_cap_mb": 50}}
    plan = make_plan(parse_study(content, source="x"))
    times = {("mlp", spec.world_size, spec.batch_per_rank): [0.01, 0.01] for spec in plan.runs.values()}
    rows = rows_view(plan, summary_of(plan, times))
    base = next(row for row in rows if row["is_base"])
    ddp = next(row for row in rows if row["variant"] == "ddp" and row["scaling"] == "strong")
    assert (base["settings"], base["micro_batches"]) == ("", "")
    assert ddp["settings"] == "compile: true, accumulation_steps: 4, ddp.bucket_cap_mb: 50.0"
    assert ddp["micro_batches"] == "4 micro-batches of 4"
