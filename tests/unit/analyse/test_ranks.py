"""How ranks differ: in samples, and in the memory nodes of their cores."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pytest
from builders import observation
from launches import spec_of
from scalestudy.analyse.run.ranks import numa_of_ranks, samples_of_ranks
from scalestudy.analyse.run.steps import steady_steps
from scalestudy.record.tables import Observation

SPEC = spec_of({"strategy": "ddp"})
SOCKETS = {"hardware": {"cpu": {"numa_nodes": {"0": "0-3,8", "1": "4-7"}}}}


def ranks(**options: Any) -> Observation:
    return observation(SPEC, [[0.010] * 40, [0.010] * 40], **options)


def test_equal_ranks_have_no_excess() -> None:
    found = samples_of_ranks(steady_steps(ranks()))
    assert found["samples_excess"] == 0


def test_the_rank_with_most_samples_is_named() -> None:
    """64 and 96 samples: the mean rank has 80, and rank 1 has a fifth more."""
    found = ranks()
    found.steps.loc[found.steps["rank"] == 1, "samples"] *= 1.5
    steady = steady_steps(found)
    assert samples_of_ranks(steady) == {"heaviest_rank": 1, "samples_excess": pytest.approx(0.2)}


def test_one_rank_has_nothing_to_differ_from() -> None:
    alone = spec_of({"strategy": "single"})
    found = samples_of_ranks(steady_steps(observation(alone, [[0.010] * 40])))
    assert isnan(found["samples_excess"])


@pytest.mark.parametrize(
    ("cores", "environment", "named", "excess_s"),
    [
        ([[0, 1], [3, 4]], SOCKETS, "[1]", 0.002),
        ([[0, 8], [4, 5]], SOCKETS, "[]", nan),
        ([[0, 4], [3, 5]], SOCKETS, "[0, 1]", nan),
        ([[0, 1], [3, 4]], {}, "[]", nan),
        ([[0, 1], [3, 4]], {"hardware": {}}, "[]", nan),
    ],
)
def test_ranks_across_memory_nodes_are_held_against_the_others(
    cores: list[list[int]], environment: dict[str, Any], named: str, excess_s: float
) -> None:
    found = ranks(cores=cores, environment=environment)
    found.steps.loc[found.steps["rank"] == 1, "data_time_s"] += 0.002
    steady = steady_steps(found)
    row = numa_of_ranks(found.record, steady)
    assert row == {"numa_ranks": named, "numa_excess_s": pytest.approx(excess_s, nan_ok=True)}
