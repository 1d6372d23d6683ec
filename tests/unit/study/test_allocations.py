"""Many short launches in few jobs."""

from __future__ import annotations

from typing import Any

from scalestudy.study.allocations import launch_min, make_allocations
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


def plan_of(content: dict[str, Any], **changes: Any) -> Plan:
    return make_plan(parse_study(content | changes, source="x"))


def many(content: dict[str, Any]) -> dict[str, Any]:
    """60 launches of 4 kinds: three workloads, five repeats, on 1, 2, 4 and 8 ranks."""
    mlp = content["workloads"]["mlp"] | {"scaling": ["weak"]}
    content = content | {"workloads": {f"mlp{number}": mlp for number in (1, 2, 3)}}
    return content | {"repeats": 5, "scales": ["1x2", "1x4", "2x4"]}


def test_sixty_launches_of_four_kinds_are_at_most_eight_jobs(content: dict[str, Any]) -> None:
    plan = plan_of(many(content))
    allocations = make_allocations(plan)
    assert len(plan.runs) == 60
    assert len({(a.nodes, a.devices_per_node) for a in allocations}) == 4
    assert len(allocations) == 8  # half an hour for each launch, five hours for a job
    assert len(make_allocations(plan_of(many(content), time_limit_min=10))) == 4


def test_every_launch_has_one_allocation_of_its_scale_and_time_for_all_of_it(content: dict[str, Any]) -> None:
    plan = plan_of(many(content), max_repeats=7, measure={"until": "precise"})
    allocations = make_allocations(plan)
    assert sorted(run for a in allocations for run in a.runs) == sorted(plan.runs)
    for allocation in allocations:
        specs = [plan.runs[run] for run in allocation.runs]
        assert {(s.nodes, s.devices_per_node) for s in specs} == {(allocation.nodes, allocation.devices_per_node)}
        assert allocation.limit_min == len(specs) * launch_min(plan) <= plan.study.allocation_limit_min
        assert {bool(plan.reserve_of(run)) for run in allocation.runs} == {"reserve" in allocation.name}


def test_launches_keep_the_shuffled_order_and_are_spread_evenly(content: dict[str, Any]) -> None:
    plan = plan_of(many(content))
    order = list(plan.runs)
    for allocation in make_allocations(plan):
        positions = [order.index(run) for run in allocation.runs]
        assert positions == sorted(positions)
        assert len(positions) in (7, 8)


def test_a_launch_that_is_longer_than_an_allocation_may_be_has_one_to_itself(content: dict[str, Any]) -> None:
    plan = plan_of(content, time_limit_min=600)
    assert {len(a.runs) for a in make_allocations(plan)} == {1}
