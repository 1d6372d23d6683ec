"""The ranks that started are compared with the plan: a wrong world gives no number."""

from __future__ import annotations

from typing import Any

import pytest
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from scalestudy.train.place.world import Member, compare


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    """Two nodes with two ranks each."""
    runs = make_plan(parse_study(content | {"scales": ["2x2"]}, source="x")).runs.values()
    return next(s for s in runs if s.nodes == 2)


def world(*places: str) -> list[Member]:
    """Members from 'node/device'."""
    return [Member(rank, *place.split("/")) for rank, place in enumerate(places)]


def test_as_planned(spec: RunSpec) -> None:
    assert compare(spec, world("a/cpu", "a/cpu", "b/cpu", "b/cpu")) is None
    assert compare(spec, world("a/0", "b/1", "a/2", "b/3")) is None


def test_ranks_over_gloo_may_share_a_gpu(spec: RunSpec) -> None:
    assert compare(spec, world("a/0", "a/0", "b/1", "b/1"), may_share=True) is None
    assert "the ranks that started are 2 on a" in (compare(spec, world("a/0", "a/0"), may_share=True) or "")


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (["a/cpu"] * 4, "2 node(s) with 2 rank(s) each were planned, but the ranks that started are 4 on a"),
        (["a/cpu", "a/cpu", "a/cpu", "b/cpu"], "the ranks that started are 3 on a, 1 on b"),
        (["a/cpu", "a/cpu"], "the ranks that started are 2 on a"),
        (["a/0", "a/0", "b/1", "b/2"], "ranks 0, 1 started on one GPU, 0; each must have its own"),
        (["a/0", "a/cpu", "b/1", "b/2"], "some ranks started on GPUs and some on CPUs"),
    ],
)
def test_not_as_planned(spec: RunSpec, places: list[str], words: str) -> None:
    assert words in (compare(spec, world(*places)) or "")
