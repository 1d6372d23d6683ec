"""Many short runs in few jobs: whole repeats in one where devices allow, and every run in exactly one."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from conftest import mlp_workload, small_content
from scalestudy.study.allocations import (
    Allocation,
    launch_min,
    make_allocations,
    shared_scales,
    split_repeats,
)
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


def plan_of(content: dict[str, Any], **changes: Any) -> Plan:
    return make_plan(parse_study(content | changes, source="x"))


def up_to(*scales: str, epochs: int = 0, workloads: int = 1, **changes: Any) -> Plan:
    """Strong scaling of 64 samples, without single processes other than the baseline; ten minutes a run."""
    workload = mlp_workload(batch_size=64, scaling=["strong"], epochs=epochs)
    content = small_content(
        scales=list(scales),
        workloads={f"mlp{number}": workload for number in range(workloads)},
        report={"overhead_reference": False},
        time_limit_min=8,
    )
    return plan_of(content, **({"repeats": 4} | changes))


def many(content: dict[str, Any]) -> dict[str, Any]:
    """60 runs of 4 kinds: three workloads, five repeats, on 1, 2, 4 and 8 ranks."""
    mlp = content["workloads"]["mlp"] | {"scaling": ["weak"]}
    content = content | {"workloads": {f"mlp{number}": mlp for number in (1, 2, 3)}, "allocations": "scales"}
    return content | {"repeats": 5, "scales": ["1x2", "1x4", "2x4"]}


def scale_of(plan: Plan, run: str) -> tuple[int, int]:
    return plan.runs[run].nodes, plan.runs[run].devices_per_node


def test_sixty_launches_of_four_kinds_are_at_most_eight_jobs(content: dict[str, Any]) -> None:
    plan = plan_of(many(content))
    allocations = make_allocations(plan)
    assert len(plan.runs) == 60
    assert len({(a.nodes, a.devices_per_node) for a in allocations}) == 4
    assert len(allocations) == 8  # half an hour for each run, five hours for a job
    assert len(make_allocations(plan_of(many(content), time_limit_min=10))) == 4


def test_by_scale_no_device_is_idle_and_there_is_time_for_all_launches(content: dict[str, Any]) -> None:
    plan = plan_of(many(content), max_repeats=7, measure={"until": "precise"})
    for allocation in make_allocations(plan):
        assert {scale_of(plan, run) for run in allocation.runs} == {
            (allocation.nodes, allocation.devices_per_node)
        }
        assert allocation.limit_min == len(allocation.runs) * launch_min(plan) <= plan.study.allocation_limit_min
        assert {bool(plan.reserve_of(run)) for run in allocation.runs} == {"reserve" in allocation.name}
        assert allocation.idle_device_hours == pytest.approx(0)


def test_launches_are_spread_evenly(content: dict[str, Any]) -> None:
    assert {len(allocation.runs) for allocation in make_allocations(plan_of(many(content)))} == {7, 8}


def test_a_launch_that_is_longer_than_an_allocation_may_be_has_one_to_itself(content: dict[str, Any]) -> None:
    plan = plan_of(content, time_limit_min=600)
    assert {len(a.runs) for a in make_allocations(plan)} == {1}


def test_whole_repeats_of_one_node_share_a_job_and_the_idle_part_is_known() -> None:
    """1, 2, 4 and 8 ranks in 10 minutes each: 15 of 32 device-slots are used."""
    plan = up_to("1x2", "1x4", "1x8")
    (job,) = make_allocations(plan)
    assert (job.nodes, job.devices_per_node, job.runs) == (1, 8, tuple(plan.runs))
    assert job.device_hours == pytest.approx(8 * 16 / 6)
    assert job.idle_device_hours == pytest.approx(job.device_hours * 17 / 32)
    assert not split_repeats(plan, (job,))


def test_a_repeat_is_not_split_where_it_fits() -> None:
    """Four runs per repeat: a job of 90 minutes has time for nine runs, and so for two repeats."""
    plan = up_to("1x2", "1x4", "1x8", allocation_limit_min=90, repeats=5)
    jobs = make_allocations(plan)
    repeats = [sorted({plan.runs[run].repeat for run in job.runs}) for job in jobs]
    assert repeats == [[1, 2], [3, 4], [5]]


def test_workloads_are_not_split_where_a_repeat_does_not_fit() -> None:
    """Comparisons are within a workload: three workloads of four runs, nine runs per job."""
    plan = up_to("1x2", "1x4", "1x8", workloads=3, allocation_limit_min=90)
    jobs = make_allocations(plan)
    assert not split_repeats(plan, jobs)
    assert max(len(job.runs) for job in jobs) == 8


def test_a_workload_that_does_not_fit_keeps_its_base_case_with_as_many_launches_as_fit() -> None:
    """Three runs per job: the baseline and two of three others."""
    plan = up_to("1x2", "1x4", "1x8", allocation_limit_min=30)
    jobs = make_allocations(plan)
    assert sorted(len(job.runs) for job in jobs) == [1, 1, 1, 1, 3, 3, 3, 3]
    for job in jobs:
        singles = sum(plan.runs[run].strategy == "single" for run in job.runs)
        assert singles == (len(job.runs) == 3)
    assert sum(split_repeats(plan, jobs).values()) == 4
    # A job of what is left holds the devices of these runs, not of the largest scale.
    assert all(job.idle_device_hours == pytest.approx(0) for job in jobs if len(job.runs) == 1)


def test_a_base_case_does_not_idle_the_devices_of_eight_nodes() -> None:
    plan = up_to("1x2", "1x4", "1x8", "2x8", "4x8", "8x8")
    assert shared_scales(plan) == {(1, 1), (1, 2), (1, 4), (1, 8)}
    jobs = make_allocations(plan)
    assert [(job.nodes, job.devices_per_node, len(job.runs)) for job in jobs] == [
        (1, 8, 16),
        (2, 8, 4),
        (4, 8, 4),
        (8, 8, 4),
    ]
    assert split_repeats(plan, jobs) == {(2, 8): 4, (4, 8): 4, (8, 8): 4}
    asked = up_to("1x2", "1x4", "1x8", "2x8", "4x8", "8x8", allocations="blocks")
    assert {(job.nodes, job.devices_per_node) for job in make_allocations(asked)} == {(8, 8)}
    assert not split_repeats(asked, make_allocations(asked))


@pytest.mark.parametrize(
    ("scales", "epochs", "together"),
    [
        (("2x1",), 0, True),  # 3 of 4
        (("1x8", "2x8"), 0, True),  # 25 of 48
        (("4x1",), 0, True),  # 5 of 8
        (("8x1",), 0, True),  # 9 of 16
        (("1x2", "8x1"), 0, False),  # 11 of 48
        (("2x1",), 3, True),  # half the time on two: 2 of 3
        (("4x1",), 3, False),  # a quarter of it on four: 2 of 5
        (("1x8", "2x8"), 3, False),
        (("8x8",), 0, True),  # 65 of 128
    ],
)
def test_several_nodes_share_jobs_with_the_base_case_while_half_of_the_time_is_used(
    scales: tuple[str, ...], epochs: int, together: bool
) -> None:
    plan = up_to(*scales, epochs=epochs)
    largest = max(scale_of(plan, run) for run in plan.runs)
    assert (largest in shared_scales(plan)) == together


def test_launches_that_a_decision_is_made_on_do_not_share_jobs_with_those_it_is_for() -> None:
    plan = up_to("1x2", repeats=3, max_repeats=8, time_limit_min=8)
    jobs = make_allocations(plan)
    assert [sorted({plan.runs[run].repeat for run in job.runs}) for job in jobs] == [[1, 2, 3], [4, 5], [6, 7, 8]]
    assert [{plan.decided_after(run) for run in job.runs} for job in jobs] == [{0}, {3}, {5}]
    assert not split_repeats(plan, jobs)


def test_a_study_that_was_planned_before_keeps_jobs_by_scale(content: dict[str, Any]) -> None:
    for version in (1, 2):
        assert plan_of(content, defaults=version).study.allocations == "scales"
        assert plan_of(content, defaults=version, allocations="auto").study.allocations == "auto"
    kinds = [plan_of(content, allocations=kind) for kind in ("auto", "blocks", "scales")]
    assert len({tuple(plan.runs) for plan in kinds}) == 1, "neither ids nor the order of launches depend on it"


def drawn(random: Random) -> Plan:
    """Any study: scales, workloads, repeats, limits and kinds of allocations."""
    scales = random.sample(["1x2", "1x4", "1x8", "2x1", "2x2", "2x8", "4x8", "8x1", "8x8"], random.randint(1, 5))
    ways = {"strong": 64, "weak": 16}
    workloads = {
        f"mlp{number}": mlp_workload(batch_size=ways[way], scaling=[way], epochs=random.choice([0, 2]))
        for number, way in enumerate(random.choices(list(ways), k=random.randint(1, 3)))
    }
    repeats = random.randint(2, 5)
    return plan_of(
        small_content(scales=scales, workloads=workloads),
        repeats=repeats,
        max_repeats=random.choice([repeats, repeats + 4]),
        measure={"until": random.choice(["decided", "precise"])},
        report={"overhead_reference": random.random() < 0.5},
        time_limit_min=random.choice([5, 30, 200]),
        allocation_limit_min=random.choice([60, 300, 2000]),
        allocations=random.choice(["auto", "blocks", "scales"]),
    )


def when_decided(plan: Plan, run: str) -> tuple[int, bool]:
    return plan.decided_after(run), plan.is_reserve(run)


def check(plan: Plan, jobs: tuple[Allocation, ...]) -> None:
    """Check properties that the jobs of every study have."""
    order = {run: place for place, run in enumerate(plan.runs)}
    most = max(1, int(plan.study.allocation_limit_min // launch_min(plan)))
    assert sorted(run for job in jobs for run in job.runs) == sorted(plan.runs), "one job for every launch"
    assert len({job.name for job in jobs}) == len(jobs)
    for job in jobs:
        scales = [scale_of(plan, run) for run in job.runs]
        assert [order[run] for run in job.runs] == sorted(order[run] for run in job.runs)
        assert 0 < len(job.runs) <= most
        assert (job.nodes, job.devices_per_node) == tuple(map(max, zip(*scales, strict=True)))
        assert len({when_decided(plan, run) for run in job.runs}) == 1
        used = sum(nodes * devices for nodes, devices in scales) * launch_min(plan) / 60
        assert job.idle_device_hours == pytest.approx(job.device_hours - used)
        assert job.idle_device_hours >= -1e-9
        if len(set(scales)) > 1:
            assert set(scales) <= shared_scales(plan)
    if plan.study.allocations == "scales":
        assert sum(job.idle_device_hours for job in jobs) == pytest.approx(0)
    job_of = {run: job.name for job in jobs for run in job.runs}
    shared = shared_scales(plan)
    blocks: dict[tuple[str, int], list[str]] = {}
    for run, spec in plan.runs.items():
        if scale_of(plan, run) in shared:
            blocks.setdefault((spec.workload, spec.repeat), []).append(run)
    if len(shared) > 1:
        for block in blocks.values():
            assert len({job_of[run] for run in block}) == 1 or len(block) > most, "not split where it fits"
    said = split_repeats(plan, jobs)
    for point in plan.points:
        if point.scaling != "reference":
            pairs = zip(point.runs, point.base, strict=True)
            assert sum(job_of[run] != job_of[base] for run, base in pairs) <= said.get(
                (point.nodes, point.devices_per_node), 0
            )


@pytest.mark.parametrize("seed", range(80))
def test_of_any_study_no_launch_is_lost_or_made_twice(seed: int) -> None:
    plan = drawn(Random(seed))
    check(plan, make_allocations(plan))
