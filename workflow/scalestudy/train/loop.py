"""The training loop: epochs of blocks of steps, validation after each epoch, and the stopping rule.

Validation, progress and bookkeeping are outside the timed blocks (train/step/steps.py).
"""

import gc
import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from scalestudy.errors import UserError
from scalestudy.measure.stopping import Look, StepRule
from scalestudy.record.observation import Stopping
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.study.spec import TrainSpec
from scalestudy.train.data import Split, load_split
from scalestudy.train.data.batches import Share
from scalestudy.train.data.feed import make_feed
from scalestudy.train.gauges import Gauges
from scalestudy.train.optimizers import build_optimizer, build_schedule
from scalestudy.train.place.placement import Placement
from scalestudy.train.step.branch_point import BranchPoint
from scalestudy.train.step.clock import Clock, make_clock
from scalestudy.train.step.precision import autocast, scaled_on, set_arithmetic
from scalestudy.train.step.steps import Stepper
from scalestudy.train.step.update import Update
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.strategies.sync_batch_norm import synchronise_norms
from scalestudy.train.validation import validate
from scalestudy.train.workloads.blocks import checkpoint_activations


class DivergedError(RuntimeError):
    """The loss is not finite; the message names rank and step."""


class StoppedError(RuntimeError):
    """The process that launched this rank stopped it by a signal."""


class Trainer:
    """Model, data and optimizer of one rank."""

    def __init__(
        self,
        spec: TrainSpec,
        place: Placement,
        strategy: Strategy,
        recorder: RankRecorder,
        gauges: Gauges,
        *,
        data: Path | None = None,
        split: Split | None = None,
        clock: Clock | None = None,
    ) -> None:
        """data: directory of prepared data. split: the data, if another trainer has loaded them.

        Raises UserError if the data or the options cannot be used.
        """
        self.spec, self.place, self.strategy = spec, place, strategy
        self.recorder, self.gauges = recorder, gauges
        set_arithmetic(spec, place)
        self.split = split or load_split(spec.data, spec.model, directory=data, device=place.device)
        if self.split.train_samples < spec.global_batch:
            raise UserError(
                f"batch_size: a global batch of {spec.global_batch} is more than the {self.split.train_samples}"
                " training samples"
            )
        self.share = Share(
            samples=self.split.train_samples,
            global_batch=spec.global_batch,
            rank=place.rank,
            world_size=place.world_size,
            seed=spec.seed,
            reshuffle=spec.input.reshuffle,
        )
        self.plain = strategy.build(spec, place)
        if spec.ddp.sync_batch_norm:
            self.plain = synchronise_norms(self.plain)
        trained = [p for p in self.plain.parameters() if p.requires_grad]
        self.parameters = sum(p.numel() for p in trained)
        self.gradient_bytes = sum(p.numel() * p.element_size() for p in trained)
        self.buffer_bytes = sum(b.numel() * b.element_size() for b in self.plain.buffers())
        if spec.activation_checkpointing:
            checkpoint_activations(self.plain)
        model = self._wrap()
        self.seed_dropout()
        optimizer = build_optimizer(spec.optimizer, model.parameters(), factor=spec.learning_rate_factor)
        schedule = build_schedule(spec.optimizer, optimizer, steps=spec.epochs * self.steps_per_epoch)
        self.feed = make_feed(self.split, spec.input, place.device)
        self.clock = clock or make_clock(place.device)
        self.stepper = self.make_stepper(spec, model, optimizer, schedule)
        self.branch_point = BranchPoint(
            spec, spec.epochs * self.steps_per_epoch, recorder.directory, rank=place.rank
        )
        self.rule = StepRule(**spec.measure.step_rule)
        self._times: list[np.ndarray] = []  # seconds of the steps of each block, on this rank

    def seed_dropout(self) -> None:
        """Seed dropout differently on each rank."""
        torch.manual_seed(self.spec.seed + 7919 * (self.place.rank + 1))

    def make_stepper(
        self,
        spec: TrainSpec,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        schedule: LambdaLR | None = None,
    ) -> Stepper:
        """Return a Stepper for a model. spec: this trainer's, or one that differs from it in its options."""
        clip, scaled = spec.optimizer.gradient_clip, scaled_on(spec, self.place)
        return Stepper(
            spec,
            self.place,
            self.strategy,
            model=model,
            update=Update(model, optimizer, schedule=schedule, clip=clip, scaled_on=scaled),
            feed=self.feed,
            clock=self.clock,
            directory=self.recorder.directory,
        )

    def validate(self) -> tuple[float, float]:
        """Return (mean loss, accuracy) over all held-out samples, with as many per pass as in training."""
        chunk, cast = self.spec.micro_batch, autocast(self.spec, self.place)
        return validate(self.plain, self.split, self.place, self.strategy, chunk=chunk, autocast=cast)

    @property
    def steps_per_epoch(self) -> int:
        """Number of full batches in an epoch."""
        return self.split.train_samples // self.spec.global_batch

    def train(self) -> Stopping:
        """Train all epochs or, if the spec has none, as many steps as the stopping rule requires.

        Raises DivergedError if a loss is not finite, and ClockError if the clock goes backwards.
        """
        look = self._train_epochs() if self.spec.epochs else self._train_until_enough()
        return Stopping(
            steps=look.steps,
            warmup_steps=look.warmup_steps,
            half_width=look.half_width if math.isfinite(look.half_width) else None,
            reason=look.reason if not self.spec.epochs else f"all {self.spec.epochs} epochs were trained",
        )

    def wrap_anew(self, *, hooked: bool = True) -> nn.Module:
        """Return the model in a new wrapper, for probes. Hooks and settings of the old wrapper are discarded."""
        del self.stepper.model
        gc.collect()
        self.stepper.model = self._wrap(hooked=hooked)
        return self.stepper.model

    def _wrap(self, *, hooked: bool = True) -> nn.Module:
        model = self.strategy.wrap(self.plain, hooked=hooked)
        if self.spec.compile:
            model.compile(dynamic=False)  # a short last batch gets its own code; the code of full batches is kept
        return model

    def open_extra(self, steps: int) -> Iterator[Tensor]:
        """Announce `steps` further index batches of this rank, after the trained ones, and return them."""
        epochs = (self.share.batches(epoch) for epoch in itertools.count(self.spec.epochs + 1))
        return iter(self.announce(list(itertools.islice(itertools.chain.from_iterable(epochs), steps))))

    def open_epoch(self, epoch: int) -> list[Tensor]:
        """Announce this rank's index batches of an epoch to the feed and return them.

        They end with a short batch unless the spec drops it.
        """
        batches = self.share.batches(epoch)
        if not self.spec.input.drop_last:
            short = self.share.tail(epoch, parts=self.spec.accumulation_steps)
            batches += [short] if len(short) else []
        return self.announce(batches)

    def announce(self, batches: list[Tensor]) -> list[Tensor]:
        """Move index batches to the device if the data are on it, and announce them to the feed."""
        if self.split.train_inputs.device.type != "cpu":
            batches = [index.to(self.place.device) for index in batches]
        self.feed.open([part for index in batches for part in self.stepper.micro_batches(index)])
        return batches

    def _train_epochs(self) -> Look:
        begin = time.perf_counter()
        steps = self.steps_per_epoch
        for epoch in range(1, self.spec.epochs + 1):
            self.stepper.model.train()
            loss_sum, samples = 0.0, 0
            opening = time.perf_counter()
            blocks = self._blocks(epoch)
            epoch_time_s = time.perf_counter() - opening  # includes the start of loader processes, if any
            for block in blocks:
                losses, time_s = self.train_block(epoch, block)
                self.branch_point.pass_by(self.recorder.steps, self.plain, self.stepper.update.optimizer)
                self.recorder.report_progress(done=self.recorder.steps, total=steps * self.spec.epochs)
                loss_sum += sum(loss * len(index) for loss, index in zip(losses, block, strict=True))
                samples += sum(len(index) for index in block)
                epoch_time_s += time_s
            mean = torch.tensor([loss_sum / samples], dtype=torch.float64, device=self.place.device)
            train_loss = self.strategy.all_reduce_sum(mean).item() / self.place.world_size
            validation_loss, accuracy = self.validate()
            self.recorder.add_epoch(
                epoch=epoch,
                epoch_time_s=epoch_time_s,
                elapsed_s=time.perf_counter() - begin,
                samples=samples * self.place.world_size,
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
        """Train until the stopping rule ends it. All ranks use the maximum over ranks, so all stop at one step."""
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
        raise AssertionError("the budget of steps ends every run")

    def _blocks(self, epoch: int) -> list[list[Tensor]]:
        """Return the batches of an epoch in blocks. The minimum warm-up is one block: none is partly dropped."""
        opened = self.open_epoch(epoch)
        whole = len(opened[0])
        batches = [index for index in opened if len(index) == whole]
        first = min(self.spec.measure.warmup_steps, len(batches)) if epoch == 1 else 0
        remaining = iter(batches[first:])
        sizes = block_sizes(len(batches) - first, self.spec.measure.block_steps)
        blocks = [batches[:first], *(list(itertools.islice(remaining, n)) for n in sizes), opened[len(batches) :]]
        return [block for block in blocks if block]

    def train_block(self, epoch: int, batches: list[Tensor]) -> tuple[list[float], float]:
        """Train and record a block. Returns (losses of this rank, seconds)."""
        first, read = self.recorder.steps, self.stepper.samples
        self.gauges.begin_block()
        times, losses = self.stepper.run_block(batches)
        warmup, whole = self.spec.measure.warmup_steps, len(batches[0]) == self.spec.batch_per_rank
        phases = ["warmup" if first + offset < warmup else "measured" for offset in range(len(batches))]
        self.recorder.add_block(
            epoch=epoch,
            phases=phases if whole else ["tail"] * len(batches),
            times_s=times,
            samples=(self.stepper.samples - read) // len(batches),
            losses=losses,
            state=self.gauges.read() | {"enqueue_first_step_s": self.stepper.enqueue_first_step_s},
        )
        for offset, loss in enumerate(losses):
            if not math.isfinite(loss):
                raise DivergedError(f"loss is {loss} at step {first + offset} on rank {self.place.rank}")
        if whole:
            self._times.append(times.sum(axis=1))
        return losses, float(times.sum())

    def _slowest(self, times_s: list[np.ndarray]) -> np.ndarray:
        """Return the seconds of each step (maximum over ranks)."""
        steps = torch.from_numpy(np.concatenate(times_s)).to(self.place.device)
        return self.strategy.all_reduce_max(steps).cpu().numpy()


def block_sizes(steps: int, target: int) -> list[int]:
    """Return sizes of blocks of nearly equal length for an epoch of `steps`, each at most `target`."""
    blocks = max(1, math.ceil(steps / target))
    return [steps // blocks + (index < steps % blocks) for index in range(blocks)]
