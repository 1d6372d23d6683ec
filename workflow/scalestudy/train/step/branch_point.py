"""A checkpoint in the middle of the training, from which larger batches are tried after the training."""

from __future__ import annotations

import contextlib
import os
from math import inf
from pathlib import Path

import torch
from torch import nn

from scalestudy.study.spec import TrainSpec

AT = 0.4
"""Share of the training before the checkpoint. Earlier, a larger batch has made too few steps to catch up; later,
the loss changes little and noise dominates. For eight networks with five trainings each, branches after 25, 40 and
50 % of the training predicted the samples to a target accuracy within 17, 16 and 31 % (root mean square), a single
training alone within 25 %."""
TIMES = (1, 2, 4)
"""Global batches of the branches, as multiples of the run's. Advice never exceeds four times the batch."""
FEWEST_STEPS = 6
"""Least steps of the largest batch: fewer do not give a curve."""


class BranchPoint:
    """Saves model and optimizer once, between two blocks of steps, to a file of the run."""

    def __init__(self, spec: TrainSpec, steps: int, directory: Path, *, rank: int) -> None:
        """steps: steps of the whole training; 0 if their number is not fixed."""
        self.samples = int(spec.measure.batch_trial_share * steps) * spec.global_batch
        """Samples of each branch."""
        wanted = spec.repeat == 1 and spec.strategy == "ddp" and spec.measure.probe_rounds > 0
        enough = self.samples >= FEWEST_STEPS * TIMES[-1] * spec.global_batch
        self._due: float = AT * steps if wanted and enough else inf
        self._rank, self._global_batch = rank, spec.global_batch
        self.path = directory / "branch-point.pt"
        self.at_samples: int | None = None
        """Samples before the checkpoint; None as long as there is no checkpoint."""

    def pass_by(self, steps: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Save the checkpoint if it is due. All ranks call this between timed blocks; only rank 0 writes.

        steps: number of steps so far.
        """
        if steps < self._due:
            return
        self._due, self.at_samples = inf, steps * self._global_batch
        if self._rank:
            return
        # If it cannot be written, the probe reports this; the training does not fail.
        with contextlib.suppress(OSError), self.path.open("wb") as file:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
            file.flush()
            os.fsync(file.fileno())  # the disk must be idle when the next step begins

    def forget(self) -> None:
        """Remove the file."""
        if not self._rank:
            self.path.unlink(missing_ok=True)
