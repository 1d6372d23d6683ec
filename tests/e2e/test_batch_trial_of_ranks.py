"""Two ranks that try larger batches from a checkpoint train, up to there and after it, as without that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from launches import spec_of, step_losses, succeeded
from scalestudy.analyse.run.batch_trial import noise_scale_of
from scalestudy.analyse.study.environment import study_environment
from scalestudy.record.batch_trial import KEY, batch_trial_in

DDP: dict[str, Any] = {"strategy": "ddp"}
WORKLOAD: dict[str, Any] = {
    "epochs": 8,
    "batch_size": 16,
    "optimizer": {"type": "sgd", "learning_rate": 0.01, "momentum": 0.9},
}
PROBES = {"probe_rounds": 2, "probe_steps": 3}


@pytest.mark.slow
def test_two_ranks_try_larger_batches(tmp_path: Path) -> None:
    spec = spec_of(DDP, WORKLOAD, measure=PROBES)
    found = succeeded(spec, tmp_path / "with")
    trial = batch_trial_in(found.record.environment)
    assert trial is not None
    assert [one.times for one in trial.branches] == [1, 2, 4]
    assert all(one.losses[-1] < one.losses[0] for one in trial.branches)
    assert noise_scale_of(trial, spec.global_batch) > 0
    assert not list((tmp_path / "with").rglob("*.pt"))
    without = succeeded(spec_of(DDP, WORKLOAD, measure=PROBES | {"batch_trial_share": 0}), tmp_path / "without")
    assert KEY not in without.record.environment
    facts = study_environment([one.record.environment for one in (found, without)]).facts
    assert KEY not in facts, "it is of a launch"
    losses = [step_losses(one.tables["steps"].to_pandas()) for one in (found, without)]
    assert losses[0].tolist() == pytest.approx(losses[1].tolist())
