"""A rank writes its report before it gives its process group back, which may take for ever."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from launches import launched, spec_of
from lingering_rank import FAILS
from scalestudy.record.tables import Observation
from scalestudy.study.spec import WORKER


def lingering(fails: str, start: str, results: Path) -> Observation:
    environment = {WORKER: "lingering_rank", FAILS: fails, "PYTHONPATH": str(Path(__file__).parents[1])}
    host = {"device": "cpu", "start": start, "environment": environment}
    return launched(spec_of({"strategy": "ddp"}, host=host), results)


@pytest.mark.parametrize("start", ["fork", pytest.param("cold", marks=pytest.mark.slow)])
def test_a_group_that_never_ends_costs_no_measurement(start: str, tmp_path: Path) -> None:
    observation = lingering("nothing", start, tmp_path)
    record = observation.record
    assert (record.outcome, record.reason) == ("ok", "")
    assert {len(steps) for _, steps in observation.steps.groupby("rank")} == {record.ranks[0].steps}
    (warning,) = (one for one in record.environment["warnings"] if one["kind"] == "slow end")
    assert warning["text"].startswith(
        "all ranks had written their reports, and not all of them ended by themselves"
    )


@pytest.mark.parametrize("start", ["fork", pytest.param("cold", marks=pytest.mark.slow)])
def test_a_probe_that_fails_on_one_rank_is_a_note(start: str, tmp_path: Path) -> None:
    observation = lingering("probe", start, tmp_path)
    record = observation.record
    assert (record.outcome, record.reason) == ("ok", "")
    assert {rank.steps for rank in record.ranks} == {record.totals.steps}
    assert not observation.steps["phase"].str.startswith("probe").any()
    (warning,) = (one for one in record.environment["warnings"] if one["kind"] == "probes failed")
    assert warning["text"].endswith("what they tell is missing: rank 1: out of memory")


def test_the_rank_that_ran_out_of_memory_is_named_and_the_other_does_not_wait_for_it(tmp_path: Path) -> None:
    begin = time.monotonic()
    record = lingering("memory", "cold", tmp_path).record
    assert record.outcome == "oom"
    assert record.reason.startswith("rank 1: out of memory")
    assert {rank.rank: rank.outcome for rank in record.ranks} == {0: "timeout", 1: "oom"}
    assert time.monotonic() - begin < 60
