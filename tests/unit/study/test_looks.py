"""When runs are looked at: preset numbers of repeats, and the error probability they share."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import small_content
from scalestudy.errors import UserError
from scalestudy.study.allocations import make_allocations
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.study import Study
from scalestudy.study.looks import level_of_a_look, looks
from scalestudy.study.plan import make_plan


def study_of(**changes: Any) -> Study:
    content = small_content(**changes)
    return parse_study({key: value for key, value in content.items() if value is not None}, source="x")


def test_every_look_adds_half_of_what_is_there() -> None:
    assert looks(3, 12) == (3, 5, 8, 12)
    assert looks(2, 7) == (2, 3, 5, 7)
    assert looks(5, 5) == (5,)


def test_levels_of_all_looks_come_to_that_of_the_study() -> None:
    assert level_of_a_look(0.95, 1) == 0.95
    assert level_of_a_look(0.95, 4) == pytest.approx(0.9875)


def test_a_study_that_names_no_number_is_launched_until_decided() -> None:
    study = study_of(repeats=None)
    assert (study.repeats, study.most_repeats) == (3, 12)
    assert study.looks == (3, 5, 8, 12)
    assert study.decisions == (3, 5, 8)
    assert study.level == pytest.approx(0.9875)


def test_a_study_that_names_its_repeats_has_as_many() -> None:
    study = study_of(repeats=4)
    assert (study.most_repeats, study.looks, study.decisions, study.level) == (4, (4,), (), 0.95)


def test_a_study_of_earlier_defaults_keeps_them() -> None:
    study = study_of(repeats=None, defaults=1)
    assert (study.repeats, study.most_repeats, study.decisions) == (5, 5, ())
    more = study_of(repeats=3, max_repeats=6, defaults=1)
    assert more.measure.until == "precise"
    assert (more.decisions, more.level, more.repeats_for_spread) == ((), 0.95, 3)


def test_until_when_it_is_launched_is_no_part_of_a_run() -> None:
    ids = [
        list(make_plan(study_of(max_repeats=4, measure={"until": until})).runs) for until in ("decided", "precise")
    ]
    assert ids[0] == ids[1]


def test_every_launch_knows_what_decides_on_it() -> None:
    plan = make_plan(study_of(repeats=3, max_repeats=12))
    after = {spec.repeat: plan.decided_after(run) for run, spec in plan.runs.items()}
    assert after == {1: 0, 2: 0, 3: 0, 4: 3, 5: 3, 6: 5, 7: 5, 8: 5, 9: 8, 10: 8, 11: 8, 12: 8}
    assert not any(plan.reserve_of(run) for run in plan.runs)
    precise = make_plan(study_of(repeats=3, max_repeats=5, measure={"until": "precise"}))
    assert {len(precise.reserve_of(run)) for run, spec in precise.runs.items() if spec.repeat > 3} == {3}
    assert not any(precise.decided_after(run) for run in precise.runs)


def test_launches_of_one_decision_share_jobs_of_a_cluster() -> None:
    plan = make_plan(study_of(repeats=2, max_repeats=4))
    for allocation in make_allocations(plan):
        assert len({plan.decided_after(run) for run in allocation.runs}) == 1


def test_a_budget_is_looked_at_after_the_first_repeat() -> None:
    study = study_of(repeats=3, max_repeats=5, measure={"budget_device_hours": 2})
    assert (study.decisions, study.looks) == ((1, 3), (3, 5))
    assert study_of(repeats=3, measure={"budget_device_hours": 2}).decisions == (1,)
    assert study_of(repeats=1, measure={"budget_device_hours": 2}).decisions == ()


def test_a_budget_that_would_bind_nothing_is_refused() -> None:
    with pytest.raises(UserError, match=r"measure\.budget_device_hours: needs `measure\.until: decided`"):
        study_of(measure={"until": "precise", "budget_device_hours": 2})
