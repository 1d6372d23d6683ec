"""The training loop: epochs of blocks of steps, validation after each epoch, every step timed.

Per epoch: the steps are cut into blocks of about `measure.block_steps`; the ranks meet before a block, never
inside it; losses stay on the device until the block is over. Validation and logging are outside the blocks.
"""

from __future__ import annotations

import itertools
import math
import time

import torch
import torch.nn.functional as F
from torch import Tensor

from scalestudy.record.recorder import Recorder
from scalestudy.study.spec import RunSpec
from scalestudy.train.clock import Times, make_clock
from scalestudy.train.data import Split, batch_indices, load_split
from scalestudy.train.optimizers import build_optimizer
from scalestudy.train.placement import Placement
from scalestudy.train.strategies import Strategy
from scalestudy.train.workloads import build_model


class DivergedError(RuntimeError):
    """The loss is no longer a number; says on which rank and step."""


class Trainer:
    """Model, data and optimizer of one rank."""

    def __init__(self, spec: RunSpec, place: Placement, strategy: Strategy, recorder: Recorder) -> None:
        self.spec, self.place, self.strategy, self.recorder = spec, place, strategy, recorder
        self.clock = make_clock(place.device)
        torch.manual_seed(spec.seed)  # the same initial parameters on every rank and at every scale
        self.plain = build_model(spec.model).to(place.device)
        self.model = strategy.wrap(self.plain)
        self.optimizer = build_optimizer(spec.optimizer, self.model.parameters())
        self.split: Split = load_split(spec.data, place.device)

    @property
    def parameters(self) -> int:
        """Number of trainable parameters."""
        return sum(p.numel() for p in self.plain.parameters() if p.requires_grad)

    def train(self) -> None:
        """All epochs. Raises DivergedError where a loss is not finite."""
        samples = len(self.split.train_targets)
        steps_per_epoch = samples // self.spec.global_batch
        begin = time.perf_counter()
        for epoch in range(1, self.spec.epochs + 1):
            train_loss, epoch_time_s = self._train_epoch(epoch, steps_per_epoch)
            validation_loss, accuracy = self._validate()
            self.recorder.add_epoch(
                epoch=epoch,
                epoch_time_s=epoch_time_s,
                elapsed_s=time.perf_counter() - begin,
                samples=steps_per_epoch * self.spec.global_batch,
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

    def _train_epoch(self, epoch: int, steps: int) -> tuple[float, float]:
        """(mean training loss over ranks, seconds inside blocks) of one epoch."""
        batches = batch_indices(
            len(self.split.train_targets),
            global_batch=self.spec.global_batch,
            rank=self.place.rank,
            world_size=self.place.world_size,
            seed=self.spec.seed,
            epoch=epoch,
            device=self.place.device,
        )
        remaining = iter(batches)
        self.model.train()
        loss_sum, time_s = 0.0, 0.0
        for block, count in enumerate(block_sizes(steps, self.spec.measure.block_steps)):
            times, losses = self._run_block(list(itertools.islice(remaining, count)))
            first = self.recorder.steps
            self.recorder.add_block(
                epoch=epoch,
                block=block,
                warmup_steps=self.spec.measure.warmup_steps,
                times_s=times,
                samples=self.spec.batch_per_rank,
                losses=losses,
            )
            self.recorder.report_progress(done=self.recorder.steps, total=steps * self.spec.epochs)
            for offset, loss in enumerate(losses):
                if not math.isfinite(loss):
                    raise DivergedError(f"loss is {loss} at step {first + offset} on rank {self.place.rank}")
            loss_sum += sum(losses)
            time_s += sum(map(sum, times))
        mean = torch.tensor([loss_sum / steps], dtype=torch.float64, device=self.place.device)
        return self.strategy.total(mean).item() / self.place.world_size, time_s

    def _run_block(self, batches: list[Tensor]) -> tuple[Times, list[float]]:
        """Train a step on each of these index batches: (times of their parts, losses of this rank)."""
        split, clock, device = self.split, self.clock, self.place.device.type
        autocast = self.spec.precision == "bf16"
        losses = []
        self.strategy.barrier()
        clock.start()
        for index in batches:
            inputs, targets = split.train_inputs[index], split.train_targets[index]
            clock.mark()
            with torch.autocast(device, dtype=torch.bfloat16, enabled=autocast):
                loss = F.cross_entropy(self.model(inputs), targets)
            clock.mark()
            loss.backward()
            clock.mark()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            losses.append(loss.detach())
            clock.mark()
        times = clock.stop()
        return times, torch.stack(losses).float().tolist()

    @torch.no_grad()
    def _validate(self) -> tuple[float, float]:
        """(loss, accuracy) on the held-out samples, shared among the ranks; uses the bare model."""
        rank, world = self.place.rank, self.place.world_size
        inputs = self.split.validation_inputs[rank::world]
        targets = self.split.validation_targets[rank::world]
        self.plain.eval()
        sums = torch.zeros(3, dtype=torch.float64, device=self.place.device)
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
