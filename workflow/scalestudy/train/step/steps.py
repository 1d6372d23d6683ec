"""Blocks of training steps, in which every part of every step is timed.

The ranks synchronise before a block, never within it. Losses stay on the GPU until the end of the block.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from scalestudy.record.observation import STEP_PARTS
from scalestudy.study.spec import TrainSpec
from scalestudy.train.data.feed import Feed
from scalestudy.train.place.placement import Placement
from scalestudy.train.step.checkpoints import Checkpoints
from scalestudy.train.step.clock import Clock
from scalestudy.train.step.precision import autocast
from scalestudy.train.step.update import Update
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.workloads.task import loss_of

Losses = list[float]
Mark = Callable[[Any], None]


class Stepper:
    """Trains a model step by step. `model` may get a new wrapper between two blocks."""

    def __init__(
        self,
        spec: TrainSpec,
        place: Placement,
        strategy: Strategy,
        *,
        model: nn.Module,
        update: Update,
        feed: Feed,
        clock: Clock,
        directory: Path,
    ) -> None:
        self.place, self.strategy = place, strategy
        self.model, self.update, self.feed, self.clock = model, update, feed, clock
        self._autocast = autocast(spec, place)
        self._moves = place.device.type != "cpu" and not getattr(spec.data, "on_device", False)
        self._parts, self._sync_always = spec.accumulation_steps, spec.accumulation_sync
        self._log_every, self._save_every = spec.log_every_steps, spec.checkpoint_every_steps
        self._checkpoints = Checkpoints(spec, directory, rank=place.rank)
        self.steps = 0
        """Number of completed steps."""
        self.samples = 0
        """Number of samples read from the feed so far."""
        self.enqueue_first_step_s: float | None = None
        """Seconds that the host took to queue the first step of the last block. None on a CPU: nothing is queued.

        If this is close to the time of a step, the host limits training: it is bound by kernel launches. Only the
        first step shows it. The driver queues about a thousand launches, then the host waits for the device, so
        that later steps take the host as long as the device."""
        self._into_parts = self._parts_of_marks()

    def stop_bookkeeping(self) -> None:
        """Stop logging and checkpoints, for the probes that follow."""
        self._log_every = self._save_every = None
        self._into_parts = self._parts_of_marks()
        self._checkpoints.close()

    def micro_batches(self, index: Tensor) -> tuple[Tensor, ...]:
        """Return the index batch of a step in parts, one for each micro-batch."""
        return (index,) if self._parts == 1 else index.tensor_split(self._parts)

    def run_block(
        self, batches: list[Tensor], *, after_step: Callable[[], None] | None = None, meet: bool = True
    ) -> tuple[np.ndarray, Losses]:
        """Run a step on each index batch. Returns (seconds, shape (steps, len(STEP_PARTS)); losses of this rank).

        The batches must be the next ones that were announced to the feed. after_step: called within the remainder
        of each step. meet: whether the ranks wait for each other before the block. Raises ClockError.
        """
        losses: list[Any] = []  # numbers on a CPU, tensors elsewhere
        on_cpu = self.place.device.type == "cpu"
        now, update = self.clock.now, self.update.step
        log_every, save_every = self._log_every, self._save_every
        make_pass = self._pass if self._parts == 1 else self._accumulate
        if meet:
            self.strategy.barrier()
        self.clock.settle()
        marks = [now()]
        mark = marks.append
        for index in batches:
            loss = make_pass(index, mark)
            update()
            mark(now())
            self.steps += 1
            if log_every:
                if self.steps % log_every == 0:
                    self._log(loss)
                mark(now())
            if save_every:
                if self.steps % save_every == 0:
                    self._checkpoints.save(self.steps, self.model, self.update.optimizer)
                mark(now())
            losses.append(loss.item() if on_cpu else loss.detach())
            if after_step is not None:
                after_step()
            mark(now())
        if self.clock.host_runs_ahead:
            queued_s = self.clock.queued_s
            self.enqueue_first_step_s = queued_s[(len(marks) - 1) // len(batches)] - queued_s[0]
        times = self.clock.between(marks).reshape(len(batches), -1) @ self._into_parts
        return times, losses if on_cpu else torch.stack(losses).float().tolist()

    def _pass(self, index: Tensor, mark: Mark) -> Tensor:
        """Run the forward and backward pass of a micro-batch. Returns its contribution to the loss of the step."""
        now = self.clock.now
        inputs, targets = self.feed.read(index)
        self.samples += targets.size(0)  # len() or shape would cost microseconds in Python or for a tuple
        mark(now())
        if self._moves:
            device = self.place.device
            inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
            mark(now())
        if self._autocast is None:
            loss = loss_of(self.model(inputs), targets)
        else:
            with self._autocast:
                loss = loss_of(self.model(inputs), targets)
        if self._parts > 1:
            loss = loss / self._parts
        mark(now())
        self.update.backward(loss)
        mark(now())
        return loss

    def _accumulate(self, index: Tensor, mark: Mark) -> Tensor:
        """Run the micro-batches of a step; gradients are reduced over ranks after the last one, or after each."""
        *first, last = self.micro_batches(index)
        loss: Tensor | float = 0.0
        for part in first:
            if self._sync_always:
                loss = loss + self._pass(part, mark).detach()
            else:
                with self.strategy.no_sync(self.model):
                    loss = loss + self._pass(part, mark).detach()
        return loss + self._pass(last, mark).detach()

    def _parts_of_marks(self) -> np.ndarray:
        """Return a matrix (marks of a step, parts) that is 1 where the time up to a mark belongs to a part."""
        absent = {
            "h2d": not self._moves,
            "logging": not self._log_every,
            "checkpoint": not self._save_every,
        }
        timed = [index for index, part in enumerate(STEP_PARTS) if not absent.get(part)]
        passed, after = timed[: 3 + self._moves], timed[3 + self._moves :]
        return np.eye(len(STEP_PARTS))[[*(passed * self._parts), *after]]

    def _log(self, loss: Tensor) -> None:
        """Print the loss as a training script does. Reading it waits for the device."""
        value = loss.item()
        if self.place.rank == 0:
            print(f"step {self.steps}: loss {value:.4f}", flush=True)
