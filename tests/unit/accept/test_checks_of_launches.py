"""Checks of observations: each fault makes its own check red."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import READING, observation
from scalestudy.accept.checks import bandwidth_check, combination_checks, early_losses, fault_checks, memory_check
from scalestudy.accept.disturbed import marks_of, marks_of_load
from scalestudy.accept.studies import Launches
from scalestudy.record.host.load import KEY
from scalestudy.record.tables import Observation

SPEC = Launches("cpu", 2).plain()
ROW = {"strategy": "ddp", "precision": "fp32", "hook": "none"}
PLACE: dict[str, Any] = {"backend": "gloo", "device_type": "cpu", "warnings": []}
SHARED = READING | {"others_cores": 0.6}
QUIET, LOADED = {KEY: {"training": [READING]}}, {KEY: {"training": [SHARED]}}


def made(**changes: Any) -> Observation:
    """A run of 60 steps on two ranks that ended well."""
    found = observation(SPEC, [[0.001] * 60] * 2, environment=PLACE | changes.pop("environment", {}), **changes)
    found.record.totals.__dict__["training_wall_time_s"] = 1.5
    return found


def red(checks: list[Any]) -> list[str]:
    return [one.name.rpartition(": ")[2] for one in checks if one.word == "red"]


def test_a_launch_that_is_as_it_should_be() -> None:
    right = made()
    assert red(combination_checks("x", ROW, right, early_losses(right), device="cpu")) == []


def test_other_losses_another_backend_and_parts_that_do_not_add_up() -> None:
    other = made(environment={"backend": "nccl"})
    reference = early_losses(other)
    other.steps.loc[3, "loss"] *= 1.01
    other.steps.loc[3, "forward_time_s"] *= 1.5
    assert red(combination_checks("x", ROW, other, reference, device="cpu")) == [
        "backend",
        "methods agree",
        "early losses",
    ]


def test_a_launch_that_failed_has_one_red_check_and_no_name_of_a_host() -> None:
    (only,) = combination_checks("x", ROW, made(outcome="failed"), np.ones(20), device="cpu")
    assert (only.word, only.found) == ("red", "failed: a reason")


def with_reason(outcome: str, rank: int, steps: int = 30) -> Observation:
    """A run whose reason is that of one of its ranks."""
    found = observation(SPEC, [[0.001] * steps] * 2, outcome=outcome, environment=PLACE)
    ranks = tuple(
        one.model_copy(update={"reason": "a reason" if one.rank == rank else ""}) for one in found.record.ranks
    )
    return Observation(found.record.model_copy(update={"ranks": ranks}), found.tables, found.epochs)


@pytest.mark.parametrize(
    ("outcome", "rank", "steps", "expected"),
    [
        ("oom", 1, 30, []),
        ("oom", 0, 30, ["blamed rank"]),
        ("failed", 1, 30, ["outcome"]),
        ("oom", 1, 20, ["kept data"]),
    ],
)
def test_a_fault(outcome: str, rank: int, steps: int, expected: list[str]) -> None:
    found = with_reason(outcome, rank, steps)
    assert red(fault_checks("x", found, outcome="oom", blamed=[1], kept_steps=30, stall_s=6)) == expected


def calls(time_s: float, environment: dict[str, Any]) -> Observation:
    rows = [{"rank": 0, "collective": "all-reduce", "bytes": 1000, "call": n, "time_s": time_s} for n in range(5)]
    return made(tables_given={"collectives": pd.DataFrame(rows)}, environment=environment)


@pytest.mark.parametrize(
    ("time_s", "load", "word"),
    [(0.00105, QUIET, "green"), (0.0015, QUIET, "red"), (0.0015, LOADED, "cannot tell")],
)
def test_bandwidth(time_s: float, load: dict[str, Any], word: str) -> None:
    loop = {"bytes": 1000, "times_s": [0.001] * 10}
    assert bandwidth_check(calls(time_s, load), loop).word == word
    assert bandwidth_check(calls(time_s, {}), None).word == "red"


def test_what_other_load_disturbed_is_neither_green_nor_red() -> None:
    found = bandwidth_check(calls(0.00105, LOADED), {"bytes": 1000, "times_s": [0.001] * 10})
    assert found.word == "cannot tell"
    assert found.found.endswith("measured under other load on the host")
    late = partial(fault_checks, "x", outcome="oom", blamed=[1], kept_steps=30)
    slow = with_reason("oom", 1)
    slow.record.totals.__dict__["wall_time_s"] = 100.0
    assert red(late(slow, stall_s=6)) == ["time to end"]
    slow.record.environment.update(LOADED)
    assert [one.word for one in late(slow, stall_s=6)].count("cannot tell") == 1
    assert red(late(slow, stall_s=6)) == []
    assert {one.word for one in late(slow, stall_s=100)} == {"green"}, "load only prolongs a time"


def test_marks_come_from_the_readings_of_training_and_probes() -> None:
    assert marks_of(made(environment=QUIET)) == ""
    assert marks_of(made(environment=LOADED)) == "other_load"
    assert marks_of(made(environment={KEY: {"training": [READING], "after": [SHARED]}})) == "other_load"
    assert marks_of(made()) == "", "without readings nothing is known"
    assert (marks_of_load(READING), marks_of_load(SHARED), marks_of_load(None)) == ("", "other_load", "")


def test_memory() -> None:
    record = made().record
    assert memory_check(record, record).word == "red", "equal is not below"
