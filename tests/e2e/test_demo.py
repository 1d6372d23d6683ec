"""A fault that is really there, put into the ranks of a launch, is named by the diagnosis."""

from __future__ import annotations

import json
import os

import pytest
from conftest import Checkout

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only"),
]


def test_a_slow_rank_is_named(checkout: Checkout) -> None:
    """Wall times cannot tell: both ranks are equally slow."""
    done = checkout.run("scalestudy", "demo", "--fault", "slow-rank", "--repeats", "1")
    assert "put in: straggler\nright" in done.stdout
    found = json.loads((checkout.root / "results/demo-slow-rank/findings.json").read_text())
    assert "Rank 1 is late" in found["findings"][0]["explanation"]
    (record,) = (checkout.root / "results/demo-slow-rank/runs").glob("*ddp*/run.json")
    assert json.loads(record.read_text())["spec"]["host"]["environment"]["SCALESTUDY_FAULT"] == "slow-rank"
