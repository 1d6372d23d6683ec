"""Words for columns and codes that findings and documents share."""

from __future__ import annotations

from math import nan
from typing import Any, get_args

import pytest
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.record.observation import Outcome
from scalestudy.registry.codes import LAUNCH_ENDS, Refused
from scalestudy.registry.words.points import far_ranks, memory_growth, numa_ranks, outcomes, steadiness, unsteady
from scalestudy.registry.words.refusals import REASONS, no_forecast

MODES = {"steadiness": "two_modes", "fast_mode_s": 0.0031, "slow_mode_s": 0.00562, "slow_mode_share": 0.38}
CHANGED = {"steadiness": "level_change", "level_change": 0.0912, "level_changed_after_steps": 60.0}


def ended(**launches: int) -> dict[str, int]:
    return {f"launches_{end}": launches.get(end, 0) for end in LAUNCH_ENDS}


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        ({"ok": 3}, "3 ok"),
        ({"oom": 1, "ok": 2}, "2 ok, 1 oom"),
        ({"too_short": 1, "preempted": 1, "failed": 2}, "2 failed, 1 ok but too short, 1 preempted"),
        ({}, ""),
    ],
)
def test_every_launch_is_accounted_for(launches: dict[str, int], said: str) -> None:
    assert outcomes(ended(**launches)) == said


def test_every_outcome_of_a_record_has_its_column() -> None:
    assert set(LAUNCH_ENDS) - {"too_short"} == set(get_args(Outcome)) - {"unneeded"}


def test_what_is_wrong_with_the_steps() -> None:
    assert steadiness(MODES) == "two modes: 3.1 ms and 5.62 ms (38 % of the steps)"
    assert steadiness(CHANGED) == "no steady state: the step time changed by +9 % after 60 steady steps"
    assert steadiness({"steadiness": "steady"}) == steadiness({"steadiness": "none"}) == ""
    assert unsteady(MODES | {"launches_unsteady": 1, "launches_ok": 3}) == f"1 of 3 runs: {steadiness(MODES)}"
    assert unsteady({"steadiness": "steady", "launches_unsteady": 0, "launches_ok": 3}) == ""


def test_memory_that_grows() -> None:
    slope = {f"memory_growth_gib_per_1000_steps{end}": value for end, value in (("", 0.1), ("_low", 0.09))}
    slope |= {"memory_growth_gib_per_1000_steps_high": 0.11, "memory_growth_rank": 1.0}
    row = slope | {"memory_growth_kind": "resident", "launches_growing": 1}
    assert memory_growth(row) == "resident memory of rank 1 grows by 0.1 GiB [0.09, 0.11] per 1000 steps"
    assert memory_growth({"launches_growing": 0}) == ""


@pytest.mark.parametrize(("ranks", "said"), [("[1]", "rank 1"), ("[0, 3]", "rank 0, 3")])
def test_ranks_on_several_memory_nodes(ranks: str, said: str) -> None:
    assert numa_ranks({"numa_ranks": ranks}) == said


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"far_ranks": '[[1, 1, "0", "1"]]'}, "rank 1 on GPU 1 runs on socket 0, its GPU is attached to socket 1"),
        ({"far_ranks": "[]"}, ""),
        ({}, ""),  # a table of an earlier release
        ({"far_ranks": nan}, ""),
    ],
)
def test_ranks_off_the_socket_of_their_gpu(column: dict[str, Any], said: str) -> None:
    assert far_ranks(column) == said


FORECAST: dict[str, Any] = {"world_size": 16, "devices_per_node": 8, "global_batch": 2048}


@pytest.mark.parametrize("code", Refused)
def test_every_refusal_has_a_reason_of_what_its_row_has(code: Refused) -> None:
    reason = no_forecast(FORECAST | NoFitError(code, value=8.0, limit=4.0, scale="1x2").columns)
    assert bool(reason) == (code != Refused.NONE)
    assert "nan" not in reason
    assert not reason.endswith(".")
    assert set(REASONS) == set(Refused)


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (NoFitError(Refused.TOO_FAR, value=8.0, limit=4.0), "16 ranks are 8 times the largest measured size"),
        (NoFitError(Refused.BATCH_TOO_LARGE, value=1024, limit=4.0), "a batch of 1024 is more than 4 times"),
        (
            NoFitError(Refused.TOO_FEW_SAMPLES, value=1438),
            "the data have 1438 samples, fewer than a",
        ),
        (NoFitError(Refused.SCALE_UNSTEADY, scale="1x2"), "most runs at 1x2 were unsteady"),
        (NoFitError(Refused.NO_STEP_TIME, value=nan, limit=2), "a step time of nan s at size 2 is not valid"),
        (NoFitError(Refused.STEP_DOES_NOT_GROW, value=16.0, limit=32.0), "does not grow from batch 16 to 32"),
    ],
)
def test_a_reason_has_the_numbers_of_its_row(refused: NoFitError, said: str) -> None:
    assert said in no_forecast(FORECAST | refused.columns)
