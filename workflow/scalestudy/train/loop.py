"""The training loop: epochs of blocks of steps, validation after each epoch, and when it is enough.

Validation, progress and bookkeeping are outside the blocks that are timed (train/steps.py).
"""

from __future__ import annotations

import gc
import itertools
import math
import time
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scalestudy.measure.stopping import Look, StepRule
from scalestudy.record.observation import Stopping
from scalestudy.record.recorder import Recorder
from scalestudy.study.spec import RunSpec
from scalestudy.train.clock import Clock, make_clock
from scalestudy.train.data import Split, batch_indices, load_split
from scalestudy.train.gauges import Gauges
from scalestudy.train.optimizers import build_optimizer
from scalestudy.train.placement import Placement
from scalestudy.train.steps import Stepper
from scalestudy.train.strategies import Strategy
from scalestudy.train.workloads import build_model


class DivergedError(RuntimeError):
    """The loss is no longer a number; says on which rank and step."""


class Trainer:
    """Model, data and optimizer of one rank."""

    def __init__(
        self,
        spec: RunSpec,
        place: Placement,
        strategy: Strategy,
        recorder: Recorder,
        gauges: Gauges,
        *,
        clock: Clock | None = None,
    ) -> None:
        self.spec, self.place, self.strategy = spec, place, strategy
        self.recorder, self.gauges = recorder, gauges
        torch.manual_seed(spec.seed)  # the same initial parameters on every rank and at every scale
        self.plain = build_model(spec.model).to(place.device)
        model = strategy.wrap(self.plain)
        self.split: Split = load_split(spec.data)
        self.stepper = Stepper(
            spec,
            place,
            strategy,
            model=model,
            optimizer=build_optimizer(spec.optimizer, model.parameters()),
            split=self.split,
            clock=clock or make_clock(place.device),
            directory=recorder.directory,
        )
        measure = spec.measure
        self.rule = StepRule(
            half_width=measure.launch_target,
            min_warmup_steps=measure.warmup_steps,
            max_warmup_steps=measure.max_warmup_steps,
            min_steps=measure.min_steps,
            max_steps=measure.max_steps,
        )
        self._times: list[np.ndarray] = []  # seconds of the steps of each block, on this rank

    @property
    def parameters(self) -> int:
        """Number of trainable parameters."""
        return sum(p.numel() for p in self.plain.parameters() if p.requires_grad)

    @property
    def steps_per_epoch(self) -> int:
        return len(self.split.train_targets) // self.spec.global_batch

    def train(self) -> Stopping:
        """All epochs; or, where the spec has none, as many steps as the stopping rule asks for.

        Raises DivergedError where a loss is not finite, ClockError where the clock goes backwards.
        """
        look = self._train_epochs() if self.spec.epochs else self._train_until_enough()
        return Stopping(
            steps=look.steps,
            warmup_steps=look.warmup_steps,
            half_width=look.half_width if math.isfinite(look.half_width) else None,
            reason=look.reason if not self.spec.epochs else f"all {self.spec.epochs} epochs were trained",
        )

    def wrap_anew(self) -> nn.Module:
        """The model in a new wrapper, for probes: hooks and settings of the old one go with it."""
        self.stepper.model = None
        gc.collect()
        self.stepper.model = self.strategy.wrap(self.plain)
        return self.stepper.model

    def endless_batches(self) -> Iterator[Tensor]:
        """Index batches of this rank, epoch after epoch, beginning after those that were trained."""
        for epoch in itertools.count(self.spec.epochs + 1):
            yield from self.epoch_batches(epoch)

    def epoch_batches(self, epoch: int) -> list[Tensor]:
        """Index batches of this rank in an epoch."""
        return batch_indices(
            len(self.split.train_targets),
            global_batch=self.spec.global_batch,
            rank=self.place.rank,
            world_size=self.place.world_size,
            seed=self.spec.seed,
            epoch=epoch,
        )

    def _train_epochs(self) -> Look:
        begin = time.perf_counter()
        steps = self.steps_per_epoch
        for epoch in range(1, self.spec.epochs + 1):
            self.stepper.model.train()
            loss_sum, epoch_time_s = 0.0, 0.0
            for block in self._blocks(epoch):
                losses, time_s = self.train_block(epoch, block)
                self.recorder.report_progress(done=self.recorder.steps, total=steps * self.spec.epochs)
                loss_sum += sum(losses)
                epoch_time_s += time_s
            mean = torch.tensor([loss_sum / steps], dtype=torch.float64, device=self.place.device)
            train_loss = self.strategy.total(mean).item() / self.place.world_size
            validation_loss, accuracy = self._validate()
            self.recorder.add_epoch(
                epoch=epoch,
                epoch_time_s=epoch_time_s,
                elapsed_s=time.perf_counter() - begin,
                samples=steps * self.spec.global_batch,
                train_loss=train_loss,
                validation_loss=validation_loss,
                validation_accuracy=accuracy,
            )
            if self.place.rank == 0:
                print(
                    f"epoch {epoch}/{self.spec.epochs}: {epoch_time_s:.3f} s, loss {train_loss:.4f},"
                    f" validation accuracy {accuracy:.4f}",
                    flush=True,
                )
        return self.rule.look(self._slowest(self._times))

    def _train_until_enough(self) -> Look:
        """Every rank sees the same times, the largest over ranks, and so comes to the same decision."""
        looks = iter([*self.rule.looks(), math.inf])
        due = next(looks)
        most = self.rule.max_warmup_steps + self.rule.max_steps
        slowest = np.empty(0)
        self.stepper.model.train()
        for epoch in itertools.count(1):
            for block in self._blocks(epoch):
                self.train_block(epoch, block)
                self.recorder.report_progress(done=min(self.recorder.steps, most), total=most)
                slowest = np.append(slowest, self._slowest(self._times[-1:]))
                steady = len(slowest) - self.rule.warmup(slowest)
                if steady < due:
                    continue
                look = self.rule.look(slowest)
                if look.enough:
                    return look
                while due <= steady:
                    due = next(looks)
        raise AssertionError("the budget ends every launch")

    def _blocks(self, epoch: int) -> list[list[Tensor]]:
        """The batches of an epoch in blocks. The least warm-up is one by itself: no block is half dropped."""
        batches = self.epoch_batches(epoch)
        first = min(self.spec.measure.warmup_steps, len(batches)) if epoch == 1 else 0
        remaining = iter(batches[first:])
        sizes = block_sizes(len(batches) - first, self.spec.measure.block_steps)
        return [
            block for block in (batches[:first], *(list(itertools.islice(remaining, n)) for n in sizes)) if block
        ]

    def train_block(self, epoch: int, batches: list[Tensor]) -> tuple[list[float], float]:
        """(losses of this rank, seconds) of a recorded block."""
        first = self.recorder.steps
        times, losses = self.stepper.run_block(batches)
        warmup = self.spec.measure.warmup_steps
        self.recorder.add_block(
            epoch=epoch,
            phases=["warmup" if first + offset < warmup else "measured" for offset in range(len(batches))],
            times_s=times,
            samples=self.spec.batch_per_rank,
            losses=losses,
            state=self.gauges.read(),
        )
        for offset, loss in enumerate(losses):
            if not math.isfinite(loss):
                raise DivergedError(f"loss is {loss} at step {first + offset} on rank {self.place.rank}")
        self._times.append(times.sum(axis=1))
        return losses, float(self._times[-1].sum())

    def _slowest(self, times_s: list[np.ndarray]) -> np.ndarray:
        """Seconds of each step, the largest over ranks."""
        steps = torch.from_numpy(np.concatenate(times_s)).to(self.place.device)
        return self.strategy.largest(steps).cpu().numpy()

    @torch.no_grad()
    def _validate(self) -> tuple[float, float]:
        """(loss, accuracy) on the held-out samples, shared among the ranks; uses the bare model."""
        rank, world, device = self.place.rank, self.place.world_size, self.place.device
        inputs = self.split.validation_inputs[rank::world].to(device)
        targets = self.split.validation_targets[rank::world].to(device)
        self.plain.eval()
        sums = torch.zeros(3, dtype=torch.float64, device=device)
        if len(targets):  # more ranks than samples leave some with none
            logits: Tensor = self.plain(inputs)
            sums[0] = F.cross_entropy(logits, targets, reduction="sum")
            sums[1] = (logits.argmax(dim=1) == targets).sum()
            sums[2] = len(targets)
        loss, correct, count = self.strategy.total(sums).tolist()
        return loss / count, correct / count


def block_sizes(steps: int, target: int) -> list[int]:
    """Cut an epoch into blocks of nearly equal length, none longer than `target`."""
    blocks = max(1, math.ceil(steps / target))
    return [steps // blocks + (index < steps % blocks) for index in range(blocks)]
