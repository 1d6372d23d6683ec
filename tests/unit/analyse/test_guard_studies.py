"""A guard over finished studies, from tables to the answer: how often it fails where it should, and should not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builders import study_of
from conftest import small_content
from scalestudy.analyse.guard.decide import ERROR, Change, Check, decide, overall
from scalestudy.analyse.guard.limits import Limit
from scalestudy.analyse.guard.studies import changes, looks_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.compare import Source, compare_studies
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.registry.codes import Guarded
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

STUDIES, REPEATS, SCATTER = 200, 5, 0.01
"""Launches of a quiet host scatter by 1 % and less (docs/benchmarks.md)."""


def source(letter: str, **content: Any) -> Source:
    plan = make_plan(parse_study(small_content(**content), source="x"))
    keys = {(spec.workload, spec.world_size, spec.batch_per_rank) for spec in plan.runs.values()}
    runs = study_of(plan, {key: [0.01] * plan.study.most_repeats for key in keys})
    runs["record_sha256"] = [f"{letter}{index}" for index in range(len(runs))]
    return Source(letter, letter, "", plan, summary_frame(plan, runs), runs, StudyEnvironment(facts={}))


def failures(change: float, limit: Limit, *, seed: int) -> float:
    """Share of 200 pairs of studies, of 3 points each, that end as worse."""
    sources = [source(letter, repeats=REPEATS) for letter in "AB"]
    comparison, random, failed = compare_studies(sources), np.random.default_rng(seed), 0
    for _ in range(STUDIES):
        for one, true in zip(sources, (1.0, 1 + change), strict=True):
            times = 0.01 * true * np.exp(random.normal(0, SCATTER, len(one.runs)))
            one.runs["step_time_s"] = times
            one.runs["throughput_samples_per_s"] = one.runs["global_batch"] / times
        found = [Check("p", of, changed) for _, of, changed, _ in changes(comparison, sources, [limit])]
        assert len(found) == 3
        failed += overall(decide(found))[0] is Guarded.WORSE
    return failed / STUDIES


@pytest.mark.slow
@pytest.mark.parametrize(("quantity", "sign"), [("step_time", 1), ("throughput", -1)])
def test_equal_studies_pass_and_slower_ones_fail(quantity: str, sign: int) -> None:
    """A limit of 0 is the hardest for equal studies: 5 %, and two standard errors of a share of 200."""
    limit, nothing = (Limit(quantity=quantity, change=sign * change) for change in (0.03, 0.0))
    assert failures(0.0, limit, seed=1) <= 0.01
    assert failures(0.0, nothing, seed=2) <= ERROR + 0.03
    assert failures(0.06, limit, seed=3) >= 0.9


@pytest.mark.parametrize(("busy", "disturbed"), [(0, False), (2, False), (5, True)])
def test_times_of_runs_under_other_load_decide_nothing(busy: int, disturbed: bool) -> None:
    sources = [source(letter, repeats=REPEATS) for letter in "AB"]
    runs = sources[1].runs
    runs["spoiled"] = ["other_load" if repeat <= busy else "none" for repeat in runs["repeat"]]
    limits = [Limit(quantity=name, change=0.03) for name in ("step_time", "peak_memory")]
    runs["peak_resident_gib"] = sources[0].runs["peak_resident_gib"] = 1.0
    found = list(changes(compare_studies(sources), sources, limits))
    assert {(limit.quantity, bad) for _, limit, _, bad in found} == {
        ("step_time", disturbed),
        ("peak_memory", False),
    }


def test_looks_of_a_study_share_the_error() -> None:
    decided = source("B", repeats=3, max_repeats=12, measure={"until": "decided"})
    assert looks_of([source("A", repeats=3), decided]) == 4
    (check,) = decide([Check("p", Limit(quantity="step_time", change=0.03), Change(0.0, 0.01, 5, 4))], looks=4)
    assert check.alpha == ERROR / 4
