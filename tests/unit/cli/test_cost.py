"""The cost of a plan is printed before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builders import observation
from conftest import tiny_study
from scalestudy.cli.plan.cost import left_lines, plan_lines
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec


def write_record(results: Path, spec: RunSpec, outcome: str = "ok") -> None:
    """The record of a run."""
    folder = results / "runs" / spec.run_id
    folder.mkdir(parents=True)
    record = observation(spec, [[0.01] * 4] * spec.world_size, outcome=outcome).record
    (folder / "run.json").write_text(record.model_dump_json())


def test_cost_is_told_before_anything_runs(content: dict[str, Any]) -> None:
    content["time_limit_min"] = 30
    text = "\n".join(plan_lines(make_plan(parse_study(content, source="x"))))
    # 4 single and 4 two-rank runs of at most half an hour: (4 + 8) / 2 device-hours
    assert "8 runs" in text
    assert "at most 6 device-hours and 4 hours" in text


def test_idle_devices_are_told_and_how_to_avoid_them(content: dict[str, Any]) -> None:
    """Eight runs of 32 minutes in a job of two devices, four of them on one: 8.53 device-hours, 2.13 idle."""
    text = "\n".join(plan_lines(make_plan(parse_study(content, source="x"))))
    assert "on a cluster: 1 job, 8.53 device-hours requested" in text
    assert "of these 8.53 device-hours, 2.13 idle: one job runs all scales of a repeat" in text
    assert "`allocations: scales` avoids the idle time" in text
    assert "does not cancel" not in text
    by_scale = "\n".join(plan_lines(make_plan(parse_study(content | {"allocations": "scales"}, source="x"))))
    assert "on a cluster: 2 jobs, 6.4 device-hours requested" in by_scale
    assert "idle" not in by_scale
    assert "1x2: not in the baseline's job in 2 of 2 repeats" in by_scale


def test_what_is_split_is_said_with_its_reason(content: dict[str, Any]) -> None:
    short = "\n".join(plan_lines(make_plan(parse_study(content | {"allocation_limit_min": 70}, source="x"))))
    assert "1x2: not in the baseline's job in 2 of 2 repeats" in short
    assert "a repeat takes up to 128 min; raise `allocation_limit_min`" in short
    wide = content | {"scales": ["1x2", "4x4", "8x4"]}
    wide["workloads"] = {"mlp": wide["workloads"]["mlp"] | {"batch_size": 32}}
    text = "\n".join(plan_lines(make_plan(parse_study(wide, source="x"))))
    assert "4x4, 8x4: not in the baseline's job in 2 of 2 repeats" in text
    assert "more than 50 % of a common job would be idle; `allocations: blocks` forces one" in text


def test_what_is_measured_is_no_part_of_what_is_left(tmp_path: Path) -> None:
    plan = make_plan(parse_study(tiny_study(), source="x"))
    assert left_lines(plan, tmp_path) == [], "nothing is measured, so the whole plan is left"
    for number, spec in enumerate(plan.runs.values(), 1):
        write_record(tmp_path, spec)
        lines = left_lines(plan, tmp_path)
        if number < len(plan.runs):
            left = list(plan.runs.values())[number:]
            device_h = sum(one.world_size for one in left) * 2 / 60
            assert lines == [
                f"left: {len(left)} of 4 runs, at most {device_h:.3g} device-hours and"
                f" {len(left) / 30:.3g} hours in sequence"
            ]
    assert lines == ["left: no runs; everything is measured"]


def test_a_preempted_run_is_left(tmp_path: Path) -> None:
    plan = make_plan(parse_study(tiny_study(), source="x"))
    for number, spec in enumerate(plan.runs.values()):
        write_record(tmp_path, spec, outcome="ok" if number else "preempted")
    assert left_lines(plan, tmp_path)[0].startswith("left: 1 of 4 runs")
