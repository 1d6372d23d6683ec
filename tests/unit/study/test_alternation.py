"""Which runs train their baseline too, and that all others are unchanged."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from scalestudy.cli.plan.cost import plan_lines
from scalestudy.errors import UserError
from scalestudy.registry.codes import NotAlternated
from scalestudy.study.allocations import make_allocations
from scalestudy.study.alternation import not_alternated
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import parse_spec


def plan_of(content: dict[str, Any], **measure: Any) -> Plan:
    return make_plan(parse_study(deepcopy(content) | {"measure": measure}, source="x"))


def test_only_distributed_launches_take_turns_and_the_others_keep_their_ids(content: dict[str, Any]) -> None:
    without, turns = plan_of(content), plan_of(content, alternating_rounds=6)
    assert {spec.alternation is None for spec in without.runs.values()} == {True}
    for run, spec in turns.runs.items():
        assert (spec.alternation is None) == (spec.strategy == "single") == (run in without.runs)
        assert parse_spec(spec.to_json()) == spec


def test_which_speedup_is_judged_is_no_part_of_a_launch(content: dict[str, Any]) -> None:
    either, other = (
        plan_of(content, alternating_rounds=6, speedup_within=within) for within in ("repeats", "launches")
    )
    assert list(either.runs) == list(other.runs)


def test_the_base_case_has_the_batch_and_the_options_of_its_own_launches(content: dict[str, Any]) -> None:
    content["variants"]["single"] |= {"accumulation_steps": 2}
    plan = plan_of(content, alternating_rounds=4)
    for point in [point for point in plan.points if point.world_size > 1]:
        mine, base = plan.runs[point.runs[0]], plan.runs[point.base[0]]
        assert mine.of_the_base == base.model_copy(update={"variant": mine.variant})
    assert mine.alternation is not None and mine.alternation.rounds == 4


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, NotAlternated.NONE),
        ({"ddp": {"bucket_cap_mb": 1}, "compile": True}, NotAlternated.NONE),
        ({"precision": "bf16"}, NotAlternated.PRECISION),
        ({"environment": {"GLOO_SOCKET_IFNAME": "lo"}}, NotAlternated.ENVIRONMENT),
        ({"input": {"loader": "dataloader", "workers": 1}}, NotAlternated.WORKERS),
        ({"log_every_steps": 5}, NotAlternated.BOOKKEEPING),
        ({"checkpoint_every_steps": 5}, NotAlternated.BOOKKEEPING),
    ],
)
def test_a_base_case_that_would_not_be_itself_takes_no_turns(
    content: dict[str, Any], options: dict[str, Any], why: NotAlternated
) -> None:
    content["variants"]["tried"] = {"strategy": "ddp"} | options
    plan = plan_of(content, alternating_rounds=6)
    assert not_alternated(plan.study, "tried") == why
    taken = {spec.alternation is not None for spec in plan.runs.values() if spec.variant == "tried"}
    assert taken == {why == NotAlternated.NONE}
    printed = "\n".join(plan_lines(plan))
    assert "baseline alternates with: ddp" in printed
    assert ("not with tried (baseline single)" in printed) == (why != NotAlternated.NONE)


def test_a_launch_cannot_be_judged_by_what_it_does_not_measure(content: dict[str, Any]) -> None:
    with pytest.raises(
        UserError, match="speedup_within: launches needs alternating_rounds; set it, to 6 for instance"
    ):
        plan_of(content, speedup_within="launches")


def test_runs_of_the_base_case_serve_no_point_that_is_judged_within_launches(content: dict[str, Any]) -> None:
    content["variants"]["mixed"] = {"strategy": "ddp", "precision": "bf16"}
    plan = plan_of(content, alternating_rounds=6, speedup_within="launches")
    served = {point.variant: plan.serving([point]) for point in plan.points if point.world_size > 1}
    single = {run for run, spec in plan.runs.items() if spec.strategy == "single"}
    assert not single & served["ddp"]
    assert single & served["mixed"]


def test_a_base_case_that_serves_no_verdict_has_no_launches_in_reserve(content: dict[str, Any]) -> None:
    """Its first runs are those of any other study; what they are compared with has all of them."""
    content |= {"repeats": 3, "max_repeats": 8}
    content["variants"]["mixed"] = {"strategy": "ddp", "precision": "bf16", "base": "other"}
    content["variants"]["ddp"]["base"] = "single"
    content["variants"]["other"] = {"strategy": "single"}
    whole = plan_of(content, alternating_rounds=6, floor=True)
    plan = plan_of(content, alternating_rounds=6, floor=True, speedup_within="launches")
    assert list(plan.runs) == [run for run in whole.runs if run in plan.runs]
    most: dict[str, int] = {}
    for spec in plan.runs.values():
        most[spec.variant] = max(spec.repeat, most.get(spec.variant, 0))
    assert most == {"single": 3, "single-again": 3, "ddp": 8, "mixed": 8, "other": 8, "other-again": 8}
    of_single = [point for point in plan.points if point.variant in ("single", "ddp")]
    assert {len(point.base) for point in of_single} == {3}
    assert {twin.variant: (len(twin.base), len(twin.runs)) for twin in plan.twins} == {
        "single": (3, 3),
        "other": (8, 8),
    }
    assert "3 to 8" in "\n".join(plan_lines(plan))


def test_all_launches_of_a_study_that_is_judged_within_launches_have_a_job(content: dict[str, Any]) -> None:
    content |= {"repeats": 3, "max_repeats": 8, "scales": ["1x2", "1x4"]}
    plan = plan_of(content, alternating_rounds=6, speedup_within="launches")
    jobs = make_allocations(plan)
    assert sorted(run for job in jobs for run in job.runs) == sorted(plan.runs)
