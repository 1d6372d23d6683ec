"""The diagnosis names a real fault that is injected into the ranks of a run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import Checkout
from launches import spec_of, step_losses, succeeded
from scalestudy.demo.faults import ALL, FAULT
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.record.document import read_document
from scalestudy.study.spec import WORKER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only"),
]


def test_more_samples_on_a_rank_are_named(checkout: Checkout) -> None:
    """They are counted, and no time has to be judged for them."""
    done = checkout.run("scalestudy", "demo", "--fault", "uneven-batches", "--repeats", "1")
    assert "injected: imbalance\ncorrect" in done.stdout
    (found,) = read_document(checkout.root / "results/demo-uneven-batches/findings.json", FindingsFile).diagnoses
    assert "Rank 1 has 20 % more samples" in found.findings[0].explanation
    (record,) = (checkout.root / "results/demo-uneven-batches/runs").glob("*ddp*/run.json")
    assert json.loads(record.read_text())["spec"]["host"]["environment"]["SCALESTUDY_FAULT"] == "uneven-batches"


def test_a_slow_link_that_is_done_to_the_ranks_is_as_slow_and_changes_no_loss(tmp_path: Path) -> None:
    """Where the user may not throttle a real link."""
    injected = {WORKER: "scalestudy.demo.rank", FAULT: "slow-link"}
    measure = {"probe_rounds": 1, "probe_steps": 4}
    slow = succeeded(spec_of({"strategy": "ddp"}, measure=measure, host={"environment": injected}), tmp_path)
    plain = succeeded(spec_of({"strategy": "ddp"}), tmp_path)
    np.testing.assert_allclose(step_losses(slow.steps), step_losses(plain.steps), rtol=1e-6)
    reduces = slow.collectives[slow.collectives["collective"] == "all-reduce"]
    assert len(reduces)
    assert (reduces["time_s"] >= 2 * reduces["bytes"] / ALL["slow-link"].link_bytes_per_s).all()
    assert {"probe-sync", "probe-no-sync"} == {p for p in slow.steps["phase"] if p.startswith("probe")}
