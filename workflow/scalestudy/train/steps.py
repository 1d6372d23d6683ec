"""Blocks of training steps, every part of every step timed.

The ranks meet before a block, never inside it; losses stay on a GPU until the block is over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scalestudy.record.observation import STEP_PARTS
from scalestudy.study.spec import RunSpec
from scalestudy.train.clock import Clock
from scalestudy.train.data import Split
from scalestudy.train.placement import Placement
from scalestudy.train.strategies import Strategy

Losses = list[float]


class Stepper:
    """Trains a model step by step. `model` may be wrapped anew between two blocks."""

    def __init__(
        self,
        spec: RunSpec,
        place: Placement,
        strategy: Strategy,
        *,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        split: Split,
        clock: Clock,
        directory: Path,
    ) -> None:
        self.place, self.strategy = place, strategy
        self.model, self.optimizer, self.split, self.clock = model, optimizer, split, clock
        self._autocast = _autocast(spec, place)
        self._log_every, self._save_every = spec.log_every_steps, spec.checkpoint_every_steps
        self._checkpoint = directory / "checkpoint.pt"
        self._steps = 0

    def stop_bookkeeping(self) -> None:
        """From here on nothing is logged and no checkpoint written: what follows are probes."""
        self._log_every = self._save_every = None

    def run_block(
        self, batches: list[Tensor], *, after_step: Callable[[], None] | None = None, meet: bool = True
    ) -> tuple[np.ndarray, Losses]:
        """A step on each of these index batches: (seconds, shape (steps, len(STEP_PARTS)); losses of this rank).

        after_step is called within the remainder of each step. meet: the ranks wait for each other before the
        block. Raises ClockError.
        """
        split, clock, device, model, optimizer = (
            self.split,
            self.clock,
            self.place.device,
            self.model,
            self.optimizer,
        )
        losses, moves = [], device.type != "cpu"
        if meet:
            self.strategy.barrier()
        clock.start()
        mark = clock.mark
        for index in batches:
            inputs, targets = split.train_inputs[index], split.train_targets[index]
            mark()
            if moves:
                inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
                mark()
            with self._autocast:
                loss = F.cross_entropy(model(inputs), targets)
            mark()
            loss.backward()
            mark()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            mark()
            self._steps += 1
            if self._log_every:
                self._log(loss)
                mark()
            if self._save_every:
                self._save()
                mark()
            losses.append(loss.detach() if moves else loss.item())
            if after_step is not None:
                after_step()
            mark()
        times = np.zeros((len(batches), len(STEP_PARTS)))
        absent = {"h2d": not moves, "logging": not self._log_every, "checkpoint": not self._save_every}
        timed = [index for index, part in enumerate(STEP_PARTS) if not absent.get(part)]
        times[:, timed] = clock.stop().reshape(len(batches), len(timed))
        return times, torch.stack(losses).float().tolist() if moves else losses

    def _log(self, loss: Tensor) -> None:
        """What a training script does to show its loss: reading it waits for the device."""
        if self._steps % self._log_every == 0:
            value = loss.item()
            if self.place.rank == 0:
                print(f"step {self._steps}: loss {value:.4f}", flush=True)

    def _save(self) -> None:
        """What a training script does to be able to resume: rank 0 writes, the others go on."""
        if self._steps % self._save_every == 0 and self.place.rank == 0:
            state = {
                "step": self._steps,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
            }
            temporary = self._checkpoint.with_suffix(".tmp")
            torch.save(state, temporary)
            temporary.replace(self._checkpoint)


def _autocast(spec: RunSpec, place: Placement) -> contextlib.AbstractContextManager:
    """bf16 autocast, or nothing at all: even a disabled autocast costs some microseconds a step."""
    if spec.precision == "bf16":
        return torch.autocast(place.device.type, dtype=torch.bfloat16)
    return contextlib.nullcontext()
