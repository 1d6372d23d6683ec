"""Context of a diagnosis: efficiencies of published trainings, with their source and their number."""

from __future__ import annotations

from typing import Any

import pytest
from bench.usual_efficiency import computed
from builders import summary_of
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.usual import PUBLISHED, usual
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

TIMES = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0044}


def case_of(content: dict[str, Any], **seen: Any) -> Case:
    """Strong scaling on two GPUs of a node, with these columns."""
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    summary = summary_of(plan, {key: [time] * 3 for key, time in TIMES.items()})
    row = (summary["scaling"] == "strong") & (summary["world_size"] == 2)
    for name, value in ({"device": "NVIDIA A100"} | seen).items():
        summary.loc[row, name] = value
    return next(c for c in make_cases(plan.study, summary, summary.iloc[:0]) if c.point["scaling"] == "strong")


def test_the_constants_are_those_of_the_published_trainings() -> None:
    assert computed() == PUBLISHED


def test_the_context_names_scaling_size_and_sources(content: dict[str, Any]) -> None:
    sources, quarter, median, three_quarters = PUBLISHED["strong", 2]
    assert usual(case_of(content)) == (
        f"published trainings with strong scaling have a median efficiency of {median:.0%} on 2 GPUs of a node;"
        f" half of the {sources} sources are between {quarter:.0%} and {three_quarters:.0%}".replace("%", " %"),
    )


@pytest.mark.parametrize(
    "seen",
    [{"device": "cpu"}, {"world_size": 3}, {"nodes": 2}, {"base_world_size": 2}],
    ids=lambda seen: next(iter(seen)),
)
def test_where_nothing_comparable_is_published_there_is_no_context(
    content: dict[str, Any], seen: dict[str, Any]
) -> None:
    assert usual(case_of(content, **seen)) == ()
