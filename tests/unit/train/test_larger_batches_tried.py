"""Trials of larger batches from a checkpoint, in one process: what they train, and what they leave unchanged."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import pytest
import torch
from launches import spec_of, trainer_of
from scalestudy.record.batch_trial import BatchTrial
from scalestudy.train.loop import Trainer
from scalestudy.train.probes.batch_trial import POINTS, try_batches
from scalestudy.train.step.branch_point import AT, BranchPoint

WORKLOAD: dict[str, Any] = {
    "epochs": 8,
    "batch_size": 16,
    "optimizer": {"type": "sgd", "learning_rate": 0.01, "momentum": 0.9},
}


def trained(directory: Path, **workload: Any) -> Trainer:
    """One process, which keeps the checkpoint as a rank of DDP does."""
    spec = spec_of({"strategy": "single"}, WORKLOAD | workload, scale="1x1")
    trainer = trainer_of(spec, directory)
    measure = spec.measure.model_copy(update={"probe_rounds": 2})
    asked = spec.model_copy(update={"strategy": "ddp", "measure": measure})
    trainer.branch_point = BranchPoint(asked, spec.epochs * trainer.steps_per_epoch, directory, rank=0)
    trainer.train()
    return trainer


def tried(trainer: Trainer) -> BatchTrial:
    found = try_batches(trainer)
    assert found is not None and not found.failed, found
    return found


@pytest.mark.slow
def test_branches_take_equal_samples_from_one_checkpoint(tmp_path: Path) -> None:
    trainer = trained(tmp_path)
    steps = 8 * trainer.steps_per_epoch
    found = tried(trainer)
    assert AT * steps <= found.at_samples / 16 <= AT * steps + trainer.spec.measure.block_steps
    assert [one.times for one in found.branches] == [1, 2, 4]
    assert len({one.losses[0] for one in found.branches}) == 1, "the loss of the checkpoint"
    ends = [one.samples[-1] for one in found.branches]
    assert max(ends) - min(ends) < 4 * 16
    assert all(len(one.samples) == len(one.losses) <= POINTS + 1 for one in found.branches)
    assert all(one.losses[-1] < one.losses[0] for one in found.branches)
    assert not list(tmp_path.glob("*.pt"))


@pytest.mark.slow
def test_a_branch_is_a_training_at_its_batch_and_rate(tmp_path: Path) -> None:
    """Twice the batch at twice the rate of SGD, step by step in plain torch."""
    trainer = trained(tmp_path)
    state = torch.load(trainer.branch_point.path, weights_only=True)
    found = tried(trainer)
    split, share = trainer.split, trainer.share
    model = trainer.plain
    model.load_state_dict(state["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    optimizer.load_state_dict(state["optimizer"])
    optimizer.param_groups[0]["lr"] = 0.02
    second, order = found.branches[1], share._order(trainer.spec.epochs + 1)
    loss = torch.nn.functional.cross_entropy
    for step in range(second.samples[1] // 32):
        index = order[32 * step : 32 * step + 32]
        optimizer.zero_grad()
        loss(model(split.train_inputs[index]), split.train_targets[index]).backward()
        optimizer.step()
    with torch.no_grad():
        held_out = loss(model(split.validation_inputs), split.validation_targets).item()
    assert held_out == pytest.approx(second.losses[1], rel=1e-3)


def test_a_training_of_few_steps_keeps_no_checkpoint(tmp_path: Path) -> None:
    trainer = trained(tmp_path, epochs=1)
    assert try_batches(trainer) is None
    assert not list(tmp_path.glob("*.pt"))


@pytest.mark.slow
def test_a_branch_that_diverges_is_told(tmp_path: Path) -> None:
    trainer = trained(tmp_path)
    state = torch.load(trainer.branch_point.path, weights_only=True)
    state["optimizer"]["param_groups"][0]["lr"] = 1e30
    torch.save(state, trainer.branch_point.path)
    assert all(isnan(one.losses[-1]) for one in tried(trainer).branches)


def test_a_checkpoint_that_is_gone_is_a_note(tmp_path: Path) -> None:
    trainer = trained(tmp_path)
    trainer.branch_point.path.unlink()
    found = try_batches(trainer)
    assert found is not None
    assert "branch-point.pt" in found.failed and found.branches == ()
