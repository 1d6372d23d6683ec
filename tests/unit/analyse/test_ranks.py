"""How ranks differ: in samples, and in the memory nodes of their cores."""

from __future__ import annotations

from dataclasses import replace
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
    excess = pytest.approx(excess_s, nan_ok=True)
    assert row == {"numa_ranks": named, "far_ranks": "[]", "numa_excess_s": excess}


def on_gpus(cores: list[list[int]], hardware: dict[str, Any]) -> Observation:
    """Two ranks on GPUs; rank 1 takes 2 ms longer to get its batch."""
    found = ranks(cores=cores, environment={"hardware": hardware})
    found.steps.loc[found.steps["rank"] == 1, "data_time_s"] += 0.002
    of_gpus = tuple(rank.model_copy(update={"device": "NVIDIA H100"}) for rank in found.record.ranks)
    return replace(found, record=found.record.model_copy(update={"ranks": of_gpus}))


GPUS = {
    "cpu": {"cpus_of_sockets": {"0": "0-3,8", "1": "4-7"}, "numa_nodes": {"0": "0-3,8", "1": "4-7"}},
    "gpu": {"devices": [{"cpus": "0-3,8"}, {"cpus": "4-7"}]},
}


def test_a_rank_off_the_socket_of_its_gpu_is_held_against_one_on_it() -> None:
    found = on_gpus([[0, 1], [2, 3]], GPUS)
    row = numa_of_ranks(found.record, steady_steps(found))
    far = '[[1, 1, "0", "1"]]'
    assert row == {"numa_ranks": "[]", "far_ranks": far, "numa_excess_s": pytest.approx(0.002)}
    well = on_gpus([[0, 1], [4, 5]], GPUS)
    assert numa_of_ranks(well.record, steady_steps(well))["far_ranks"] == "[]"


def test_records_that_do_not_know_the_socket_of_a_gpu_name_no_rank() -> None:
    """Records of earlier releases, of a driver without this value, and of ranks on CPUs."""
    silent = {"cpu": GPUS["cpu"], "gpu": {"devices": [{"cpus": None}] * 2}}
    for hardware in ({"cpu": {}, "gpu": {"devices": [{}, {}]}}, {"cpu": GPUS["cpu"]}, silent):
        found = on_gpus([[0, 1], [2, 3]], hardware)
        assert numa_of_ranks(found.record, steady_steps(found))["far_ranks"] == "[]"
    of_cpus = ranks(cores=[[0, 1], [2, 3]], environment={"hardware": GPUS})
    assert numa_of_ranks(of_cpus.record, steady_steps(of_cpus))["far_ranks"] == "[]"
