"""The plan defines what a run id means, and which runs are compared."""

from __future__ import annotations

from typing import Any

from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


def plan_of(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


def test_points_of_strong_and_weak_scaling(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    seen = {(p.variant, p.scaling, p.world_size, p.batch_per_rank, p.global_batch) for p in plan.points}
    assert seen == {
        ("single", "strong", 1, 32, 32),
        ("single", "weak", 1, 32, 32),
        ("single", "reference", 1, 16, 16),
        ("ddp", "strong", 2, 16, 32),
        ("ddp", "weak", 2, 32, 64),
    }


def test_a_run_that_serves_two_points_is_planned_once(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    assert len(plan.runs) == 4 * 2  # base, reference, strong, weak; two repeats each
    single = {point.scaling: point.runs for point in plan.points if point.variant == "single"}
    assert single["strong"] == single["weak"]
    assert single["reference"] != single["strong"]


def test_every_distributed_point_knows_its_base_and_its_equal_batch(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    for point in plan.points:
        assert {plan.runs[run].batch_per_rank for run in point.base} == {32}
        assert {plan.runs[run].world_size for run in point.base} == {1}
        assert {plan.runs[run].batch_per_rank for run in point.equal_batch} == {point.batch_per_rank}
        assert {plan.runs[run].world_size for run in point.equal_batch} == {1}


def test_without_reference_runs_strong_points_have_no_equal_batch(content: dict[str, Any]) -> None:
    content["report"] = {"overhead_reference": False}
    plan = plan_of(content)
    assert len(plan.runs) == 3 * 2
    strong = next(p for p in plan.points if p.scaling == "strong" and p.world_size == 2)
    assert strong.equal_batch == ()


def order(plan: Plan, repeat: int) -> list[tuple[str, str, int]]:
    return [(s.workload, s.variant, s.batch_per_rank) for s in plan.runs.values() if s.repeat == repeat]


def test_each_second_repeat_reverses_the_one_before(content: dict[str, Any]) -> None:
    """So that a drift of the host within repeats cancels over the two."""
    content["repeats"] = 5
    content["workloads"]["other"] = content["workloads"]["mlp"]
    plan = plan_of(content)
    repeats = [spec.repeat for spec in plan.runs.values()]
    assert repeats == sorted(repeats), "a repeat is a block: every configuration once before any comes again"
    assert order(plan, 2) == order(plan, 1)[::-1]
    assert order(plan, 4) == order(plan, 3)[::-1]
    assert {*order(plan, 5)} == {*order(plan, 1)}
    assert len({tuple(order(plan, repeat)) for repeat in (1, 3, 5)}) > 1
    assert list(plan.runs) == list(plan_of(content).runs)
    assert list(plan.runs) != list(plan_of(content | {"seed": 8}).runs)


def test_launches_stand_next_to_the_process_that_they_are_compared_with(content: dict[str, Any]) -> None:
    content["scales"] = ["1x2", "1x4"]
    content["workloads"]["other"] = content["workloads"]["mlp"]
    for repeat in (1, 2):
        found = order(plan_of(content), repeat)
        for workload in ("mlp", "other"):
            here = [variant for name, variant, _ in found if name == workload]
            places = [place for place, one in enumerate(found) if one[0] == workload]
            assert places == list(range(places[0], places[0] + len(here))), "workloads follow each other"
            assert here == ["ddp"] * 2 + ["single"] * 3 + ["ddp"] * 2


def test_run_ids_are_readable_and_change_with_what_is_run_only(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    assert any(run.startswith("mlp-ddp-b16-n1g2-r1-") for run in plan.runs)
    same = plan_of(content | {"description": "other words", "time_limit_min": 99, "report": {"confidence": 0.9}})
    assert set(same.runs) == set(plan.runs)
    content["workloads"]["mlp"]["optimizer"]["learning_rate"] = 0.06
    assert not set(plan_of(content).runs) & set(plan.runs)


def test_adding_a_workload_keeps_the_runs_of_the_others(content: dict[str, Any]) -> None:
    before = set(plan_of(content).runs)
    content["workloads"]["wide"] = {**content["workloads"]["mlp"], "model": {"type": "mlp", "hidden_dim": 64}}
    assert before < set(plan_of(content).runs)


def test_plan_survives_its_file(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    again = Plan.model_validate_json(plan.model_dump_json())
    assert again == plan
    assert list(again.runs) == list(plan.runs)
