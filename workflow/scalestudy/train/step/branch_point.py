"""A checkpoint in the middle of a training. After the training, larger batches are tried from it."""

from __future__ import annotations

import contextlib
import os
from math import inf
from pathlib import Path

import torch
from torch import nn

from scalestudy.study.spec import TrainSpec

AT = 0.4
"""Of the training. Earlier, a larger batch is behind in steps and has not caught up; later, there is little left
to lose, and noise decides. Of eight networks, five trainings each, branches after 25, 40 and 50 % of the training
told the samples to a target accuracy within 17, 16 and 31 % (root mean square), one training alone within 25 %."""
TIMES = (1, 2, 4)
"""The global batch over that of the launch. Advice goes no farther than four times."""
FEWEST_STEPS = 6
"""Of the largest batch: with fewer there is no curve."""


class BranchPoint:
    """Keeps model and optimizer once, between two blocks of steps, in a file of the launch."""

    def __init__(self, spec: TrainSpec, steps: int, directory: Path, *, rank: int) -> None:
        """steps: of the whole training; 0 where it has no end."""
        self.samples = int(spec.measure.batch_trial_share * steps) * spec.global_batch
        """Of each branch."""
        wanted = spec.repeat == 1 and spec.strategy == "ddp" and spec.measure.probe_rounds > 0
        enough = self.samples >= FEWEST_STEPS * TIMES[-1] * spec.global_batch
        self._due: float = AT * steps if wanted and enough else inf
        self._rank, self._global_batch = rank, spec.global_batch
        self.path = directory / "branch-point.pt"
        self.at_samples: int | None = None
        """Samples before the checkpoint; None while there is none."""

    def pass_by(self, steps: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Called between blocks with the steps so far, on all ranks. Rank 0 writes; nothing is timed meanwhile."""
        if steps < self._due:
            return
        self._due, self.at_samples = inf, steps * self._global_batch
        if self._rank:
            return
        # Where it cannot be written, the probe says so: no training fails for it.
        with contextlib.suppress(OSError), self.path.open("wb") as file:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
            file.flush()
            os.fsync(file.fileno())  # the disk is to be idle when the next step begins

    def forget(self) -> None:
        """Remove the file."""
        if not self._rank:
            self.path.unlink(missing_ok=True)
