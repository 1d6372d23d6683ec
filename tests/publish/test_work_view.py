"""Work and settings in the row of a point: parameters, arithmetic, bytes, micro-batches."""

from __future__ import annotations

from math import nan
from typing import Any

from builders import rows_book, summary_of
from scalestudy.publish.views.rows import rows_view, work_view
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan


def test_work_is_said_with_its_units_and_only_as_far_as_it_is_known(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(content, source="x"))
    times = {("mlp", spec.world_size, spec.batch_per_rank): [0.01, 0.01] for spec in plan.runs.values()}
    known = {"parameters": 42e6, "flops_per_sample": 250e6, "flop_per_s_per_rank": 1e12}
    known["bytes_sent_per_step"] = 168e6

    def said(**changes: float) -> str:
        return work_view(rows_book(summary_of(plan, times).assign(**known | changes)), "mlp.ddp.strong.n2")

    assert said() == "42 M parameters; 250 MFLOP per sample, 1 TFLOP/s per rank; each rank sends 160 MiB per step"
    unknown = {"flops_per_sample": nan, "flop_per_s_per_rank": nan, "bytes_sent_per_step": 0.0}
    assert said(**unknown) == "42 M parameters"
    without_rate = "42 M parameters; 250 MFLOP per sample; each rank sends 160 MiB per step"
    assert said(flop_per_s_per_rank=nan) == without_rate


def test_rows_name_micro_batches_and_what_differs_from_the_defaults(content: dict[str, Any]) -> None:
    content["variants"]["ddp"] |= {"accumulation_steps": 4, "compile": True, "ddp": {"bucket_cap_mb": 50}}
    plan = make_plan(parse_study(content, source="x"))
    times = {("mlp", spec.world_size, spec.batch_per_rank): [0.01, 0.01] for spec in plan.runs.values()}
    summary = summary_of(plan, times)
    rows = rows_view(plan, summary, rows_book(summary))
    base = next(row for row in rows if row["is_base"])
    ddp = next(row for row in rows if row["variant"] == "ddp" and row["scaling"] == "strong")
    assert (base["settings"], base["micro_batches"]) == ("", "")
    assert ddp["settings"] == "compile: true, accumulation_steps: 4, ddp.bucket_cap_mb: 50.0"
    assert ddp["micro_batches"] == "4 micro-batches of 4"
