"""Blocks of training steps, every part of every step timed.

The ranks meet before a block, never inside it; losses stay on a GPU until the block is over.
"""

import time
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
    """Trains a model step by step. `model` may be wrapped anew between two blocks."""

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
        """Steps begun and ended so far."""
        self.samples = 0
        """Samples that the feed gave so far, counted as they come."""
        self.enqueue_time_s: float | None = None
        """Seconds that the host took to queue the steps of the last block. None on a CPU, where nothing is queued.

        Near the time of the block, the host is what training waits for: it is bound by launches."""
        self._into_parts = self._parts_of_marks()

    def stop_bookkeeping(self) -> None:
        """From here on nothing is logged and no checkpoint written: what follows are probes."""
        self._log_every = self._save_every = None
        self._into_parts = self._parts_of_marks()
        self._checkpoints.close()

    def micro_batches(self, index: Tensor) -> tuple[Tensor, ...]:
        """The index batch of a step in the parts that are read and passed one after another."""
        return (index,) if self._parts == 1 else index.tensor_split(self._parts)

    def run_block(
        self, batches: list[Tensor], *, after_step: Callable[[], None] | None = None, meet: bool = True
    ) -> tuple[np.ndarray, Losses]:
        """A step on each of these index batches: (seconds, shape (steps, len(STEP_PARTS)); losses of this rank).

        The batches are the next ones that the feed was told of. after_step is called within the remainder of each
        step. meet: the ranks wait for each other before the block. Raises ClockError.
        """
        losses: list[Any] = []  # numbers on a CPU, tensors elsewhere
        on_cpu = self.place.device.type == "cpu"
        now, update = self.clock.now, self.update.step
        log_every, save_every = self._log_every, self._save_every
        make_pass = self._pass if self._parts == 1 else self._accumulate
        if meet:
            self.strategy.barrier()
        self.clock.settle()
        begin = time.perf_counter()
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
            self.enqueue_time_s = time.perf_counter() - begin
        times = self.clock.between(marks).reshape(len(batches), -1) @ self._into_parts
        return times, losses if on_cpu else torch.stack(losses).float().tolist()

    def _pass(self, index: Tensor, mark: Mark) -> Tensor:
        """Forward and backward pass of a micro-batch, and its loss as a part of the step's."""
        now = self.clock.now
        inputs, targets = self.feed.read(index)
        self.samples += targets.size(0)  # len() is Python, and shape makes a tuple first: microseconds of a step
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
        """The micro-batches of a step; gradients are summed over ranks after the last, or after each."""
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
        """(marks of a step, parts): 1 where what ends at that mark belongs to that part."""
        absent = {
            "h2d": not self._moves,
            "logging": not self._log_every,
            "checkpoint": not self._save_every,
        }
        timed = [index for index, part in enumerate(STEP_PARTS) if not absent.get(part)]
        passed, after = timed[: 3 + self._moves], timed[3 + self._moves :]
        return np.eye(len(STEP_PARTS))[[*(passed * self._parts), *after]]

    def _log(self, loss: Tensor) -> None:
        """What a training script does to show its loss: reading it waits for the device."""
        value = loss.item()
        if self.place.rank == 0:
            print(f"step {self.steps}: loss {value:.4f}", flush=True)
