"""The top of every document: each point of a small study, and the outlines of a large one."""

from __future__ import annotations

from typing import Any

import pytest
from builders import page_of, printed_of, results_of, study_of
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.views.diagnoses import MOST_LISTED, leading
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

SCALES = ["1x2", "1x4", "2x2", "2x4", "4x4"]


def measured(content: dict[str, Any], scales: list[str]) -> tuple[Plan, Results]:
    """A step takes as long as the batch of a rank; on 16 ranks ten times as long, and on 4 memory ends."""
    plan = make_plan(parse_study(content | {"scales": scales}, source="x"))
    times: dict[Any, Any] = {}
    for spec in plan.runs.values():
        slow = 10 if spec.world_size == 16 else 1
        alike = [1e-4 * spec.batch_per_rank * slow * (1 + repeat / 100) for repeat in range(content["repeats"])]
        place = spec.workload, spec.world_size, spec.batch_per_rank
        times[place] = ["oom"] * content["repeats"] if spec.world_size == 4 else alike
    return plan, results_of(plan, study_of(plan, times))


def test_of_few_points_each_is_told(content: dict[str, Any]) -> None:
    facts = printed_of(*measured(content, ["1x2", "1x8"]))
    assert [d["ranks"] for d in facts["leading"]] == ["2 ranks", "8 ranks"] * 2
    assert {d["others"] for d in facts["leading"]} == {""}
    assert len(leading(facts["diagnoses"], most=0)) == 2


def test_of_many_points_the_largest_scale_and_the_verdicts_of_the_others(content: dict[str, Any]) -> None:
    plan, results = measured(content, SCALES)
    facts = printed_of(plan, results)
    assert len(facts["diagnoses"]) == 2 * len(SCALES) > MOST_LISTED
    assert [(d["scaling"], d["ranks"]) for d in facts["leading"]] == [
        ("strong", "16 ranks on 4 nodes"),
        ("weak", "16 ranks on 4 nodes"),
    ]
    others = "healthy on 2 ranks, 8 ranks on 2 nodes; not measured on 4 ranks, 4 ranks on 2 nodes"
    assert [d["others"] for d in facts["leading"]] == [others] * 2
    text = render(DIRECTORY / "performance_report.txt", **facts)
    summary = " ".join(text[: text.index("MEASUREMENTS")].split())
    assert summary.count("* mlp, ddp") == 2
    assert summary.count(f"At other scales: {others}.") == 2
    page = page_of(plan, results)
    assert page.count('class="card"') == 2
    assert page.count(f'At <a href="#findings">other scales</a>: {others}.') == 2


@pytest.mark.parametrize("points", [0, 1])
def test_of_no_point_nothing_and_of_one_that_one(content: dict[str, Any], points: int) -> None:
    facts = printed_of(*measured(content, ["1x2"]))
    assert len(leading(facts["diagnoses"][:points], most=0)) == points
