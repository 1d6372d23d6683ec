"""A fault that is really there, put into the ranks of a launch, is named by the diagnosis."""

from __future__ import annotations

import json
import os

import pytest
from conftest import Checkout

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only")


def test_more_samples_on_a_rank_are_named(checkout: Checkout) -> None:
    """They are counted, and no time has to be judged for them."""
    done = checkout.run("scalestudy", "demo", "--fault", "uneven-batches", "--repeats", "1")
    assert "put in: imbalance\nright" in done.stdout
    found = json.loads((checkout.root / "results/demo-uneven-batches/findings.json").read_text())
    assert "Rank 1 has 20% more samples" in found["findings"][0]["explanation"]
    (record,) = (checkout.root / "results/demo-uneven-batches/runs").glob("*ddp*/run.json")
    assert json.loads(record.read_text())["spec"]["host"]["environment"]["SCALESTUDY_FAULT"] == "uneven-batches"
