"""What runs record that has nothing to do with how fast the host is meanwhile."""

from __future__ import annotations

import pytest
from conftest import Checkout, tiny_study
from scalestudy.analyse.communication.probes import communication_of
from scalestudy.record.tables import read_observation


@pytest.mark.slow
def test_profile_steps_on_the_command_line(checkout: Checkout) -> None:
    run = next(name for name, spec in checkout.plan().runs.items() if spec.world_size == 1)
    printed = checkout.run("scalestudy", "stage", "train", "--run", run, "--profile-steps", "3").stdout
    assert "traces in results/tiny/runs/" in printed
    assert len(list(checkout.root.glob("results/tiny/runs/*/trace-rank0.pt.trace.json.gz"))) == 1


@pytest.mark.slow
def test_fsdp_trains_the_same_and_tells_what_it_can(checkout: Checkout, finished: Checkout) -> None:
    """Sharded training is the same training; of its communication the reduce-scatter alone can be left out."""
    (alone,) = finished.root.glob("results/tiny/runs/first-single-*")
    one = read_observation(alone)
    study = tiny_study()
    del study["workloads"]["second"]
    study["variants"] = {"single": {"strategy": "single"}, "fsdp": {"strategy": "fsdp"}}
    study["measure"] = {"probe_rounds": 2, "probe_steps": 4}
    checkout.configure(study)
    run = next(name for name, spec in checkout.plan().runs.items() if spec.world_size == 2)
    checkout.run("scalestudy", "stage", "train", "--run", run)
    two = read_observation(checkout.root / "results/tiny/runs" / run)
    assert two.record.outcome == "ok", two.record.reason
    assert two.epochs["train_loss"].tolist() == pytest.approx(one.epochs["train_loss"].tolist(), rel=1e-4)
    assert two.record.totals.parameters == one.record.totals.parameters
    assert set(two.steps["phase"]) == {"warmup", "measured", "probe-sync", "probe-no-sync"}
    assert set(two.collectives["collective"]) == {"all-reduce", "all-gather", "reduce-scatter"}
    assert two.buckets.empty
    row = communication_of(two, confidence=0.95)
    assert row["differential_s_low"] < row["differential_s"] < row["differential_s_high"]
    assert row["methods"] == "not_compared_fsdp"
