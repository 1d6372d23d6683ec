"""Baselines launched twice: exactly alike but for the name, and nothing else of the plan changes."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import mlp_workload
from scalestudy.cli.plan.cost import plan_lines
from scalestudy.errors import UserError
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

FLOOR = {"measure": {"floor": True}}


def plan_of(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


def several_bases(content: dict[str, Any]) -> dict[str, Any]:
    variants = {
        "single": {"strategy": "single"},
        "large": {"strategy": "single", "accumulation_steps": 2},
        "ddp": {"strategy": "ddp", "base": "single"},
        "ddp-large": {"strategy": "ddp", "base": "large", "accumulation_steps": 2},
    }
    workloads = {"mlp": mlp_workload(), "other": mlp_workload(batch_size=64)}
    return content | {"variants": variants, "workloads": workloads, "repeats": 3, "profile": True}


def test_without_the_key_there_are_no_twins(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    assert plan.twins == ()
    assert list(plan.runs) == list(plan_of(content | {"measure": {"floor": False}}).runs)


def test_ids_and_points_of_all_other_runs_stay_what_they_were(content: dict[str, Any]) -> None:
    content = several_bases(content)
    without, with_twins = plan_of(content), plan_of(content | FLOOR)
    again = {run for twin in with_twins.twins for run in twin.runs}
    assert set(with_twins.runs) - again == set(without.runs)
    assert not again & set(without.runs)
    assert with_twins.points == without.points
    for run, spec in without.runs.items():
        assert with_twins.runs[run].to_json() == spec.to_json()


def test_every_base_case_has_one_twin_in_each_repeat(content: dict[str, Any]) -> None:
    plan = plan_of(several_bases(content) | FLOOR)
    found = {(twin.workload, twin.variant, twin.batch_per_rank) for twin in plan.twins}
    assert found == {
        (name, base, size) for name, size in (("mlp", 32), ("other", 64)) for base in ("single", "large")
    }
    assert {twin.base for twin in plan.twins} == {point.base for point in plan.points}
    assert all(len(twin.runs) == 3 for twin in plan.twins)


def test_twins_are_identical_but_for_their_name_and_a_second_trace(content: dict[str, Any]) -> None:
    plan = plan_of(several_bases(content) | FLOOR)
    for twin in plan.twins:
        for first, second in zip(twin.base, twin.runs, strict=True):
            mine, theirs = (plan.runs[run].model_dump() for run in (first, second))
            differ = {name for name in mine if mine[name] != theirs[name]}
            assert differ == {"variant"} | ({"profile_steps"} if mine["repeat"] == 1 else set())
            assert (theirs["variant"], theirs["profile_steps"]) == (f"{twin.variant}-again", 0)


def test_twins_are_launched_in_the_middle_of_their_repeat(content: dict[str, Any]) -> None:
    plan = plan_of(several_bases(content) | FLOOR)
    for repeat in (1, 2, 3):
        mine = [spec for spec in plan.runs.values() if spec.repeat == repeat]
        for workload in ("mlp", "other"):
            single = [spec.strategy == "single" for spec in mine if spec.workload == workload]
            first, last = single.index(True), len(single) - single[::-1].index(True)
            assert all(single[first:last])
            assert 0 < first < last < len(single)


def test_a_variant_may_not_have_the_name_of_a_twin(content: dict[str, Any]) -> None:
    content["variants"]["single-again"] = {"strategy": "ddp"}
    assert plan_of(content).runs
    with pytest.raises(UserError, match=r"variants\.single-again: .*`measure\.floor: true`.*another name"):
        plan_of(content | FLOOR)


def test_a_twin_in_reserve_is_launched_as_often_as_its_base_case(content: dict[str, Any]) -> None:
    content |= {"repeats": 2, "max_repeats": 4, "measure": {"floor": True, "until": "precise"}}
    plan = plan_of(content)
    (twin,) = plan.twins
    for base, again in zip(twin.base, twin.runs, strict=True):
        assert plan.reserve_of(again) == plan.reserve_of(base)
    assert plan.reserve_of(twin.runs[2]) == twin.base[:2]


def test_the_plan_counts_what_twins_cost(content: dict[str, Any]) -> None:
    lines = plan_lines(plan_of(content | FLOOR))
    (row,) = [line.split() for line in lines if "single-again" in line]
    assert row == ["mlp", "single-again", "1x1", "32", "32", "floor", "2"]
    assert any(line.startswith("10 runs") for line in lines)
    assert any(line.startswith("8 runs") for line in plan_lines(plan_of(content)))


def test_a_plan_of_before_has_no_twins(content: dict[str, Any]) -> None:
    older = plan_of(content).model_dump(mode="json")
    del older["twins"], older["study"]["measure"]["floor"]
    assert Plan.model_validate(older) == plan_of(content)
