"""Steps whose gradients are looked at, with parameters that stay as they are: in one process, and with DDP."""

# No deferred annotations here: torch looks at those of a hook itself.
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from scalestudy.study.spec import TrainSpec
from scalestudy.train.loop import Trainer
from scalestudy.train.step.precision import autocast
from scalestudy.train.strategies.ddp import wrap_ddp
from scalestudy.train.workloads.task import loss_of

PARTS = 4
"""Of the batch of a single process, where it can be divided so."""

Gradients = list[Tensor | None]
Step = Callable[[list[Tensor]], tuple[Tensor, Gradients]]
"""Announced parts of a batch -> (sum of |g|^2 over this rank's gradients, float64; mean gradient of all ranks)."""


def parts_of_step(spec: TrainSpec) -> int:
    """Gradients that a rank takes of its batch: of each micro-batch; without them PARTS in a single process."""
    if spec.accumulation_steps > 1 or spec.strategy != "single":
        return spec.accumulation_steps
    return next(parts for parts in (PARTS, 2, 1) if spec.batch_per_rank % parts == 0)


def announce(trainer: Trainer, random: torch.Generator, steps: int) -> list[list[Tensor]]:
    """Index batches of so many steps in their parts, drawn with replacement and announced to the feed."""
    split, spec = trainer.split, trainer.spec
    device = "cpu" if split.train_inputs.device.type == "cpu" else trainer.place.device
    drawn = [
        torch.randint(split.train_samples, (spec.batch_per_rank,), generator=random).to(device)
        for _ in range(steps)
    ]
    parts = [list(index.tensor_split(parts_of_step(spec))) for index in drawn]
    trainer.feed.open([part for of_step in parts for part in of_step])
    return parts


def step_alone(trainer: Trainer) -> Step:
    """One process, without the compiled code of a whole batch: for parts of it, it would be made once more."""
    trainer.plain._compiled_call_impl = None
    return _step(trainer, trainer.plain, _square_of)


@dataclass
class _Squares:
    """|g|^2 of this rank's gradient, over the buckets so far; float64."""

    total: Tensor


def step_of_ranks(trainer: Trainer) -> Step:
    """DDP, in a wrapper of its own: what a rank has before the all-reduce, and what all have after it."""
    del trainer.stepper.model
    model = wrap_ddp(trainer.plain, trainer.spec, trainer.place.device, hooked=False)
    trainer.stepper.model = model
    zero = torch.zeros((), dtype=torch.float64, device=trainer.place.device)
    state = _Squares(zero)
    model.register_comm_hook(state, _looked_at_all_reduce)

    def before_the_all_reduce(_: Gradients) -> Tensor:
        square, state.total = state.total, zero
        return square

    return _step(trainer, model, before_the_all_reduce)


def _step(trainer: Trainer, model: nn.Module, square_of: Callable[[Gradients], Tensor]) -> Step:
    """Every part has a backward pass by itself, with gradients from nothing; square_of: asked after each."""
    parameters = [parameter for parameter in trainer.plain.parameters() if parameter.requires_grad]
    backward = _backward(trainer, model)

    def make(parts: list[Tensor]) -> tuple[Tensor, Gradients]:
        square, mean = torch.zeros((), dtype=torch.float64, device=trainer.place.device), Gradients()
        for part in parts:
            for parameter in parameters:
                parameter.grad = None
            backward(part)
            mine: Gradients = [parameter.grad for parameter in parameters]
            square += square_of(mine)
            if len(parts) > 1:  # DDP may write the next ones to the same place
                mine = [None if gradient is None else gradient / len(parts) for gradient in mine]
            mean = [_sum(*pair) for pair in zip(mean, mine, strict=True)] if mean else mine
        return square, mean

    return make


def _sum(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    if first is None or second is None:
        return second if first is None else first
    return first.add_(second)


def _looked_at_all_reduce(state: _Squares, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """What DDP does by itself, mean over ranks, with a look at the bucket before."""
    buffer = bucket.buffer()
    state.total = state.total + _square_of([buffer])
    buffer.div_(dist.get_world_size())
    work = dist.all_reduce(buffer, async_op=True)

    def done(future: torch.futures.Future[list[torch.Tensor]]) -> torch.Tensor:
        return future.value()[0]

    summed: torch.futures.Future[torch.Tensor] = work.get_future().then(done)
    return summed


def _backward(trainer: Trainer, model: nn.Module) -> Callable[[Tensor], None]:
    """Of an index batch: forward and backward pass of its mean loss, with the scale of the loss."""
    device, context = trainer.place.device, autocast(trainer.spec, trainer.place)
    scale = trainer.stepper.update.loss_scale

    def backward(index: Tensor) -> None:
        inputs, targets = (values.to(device, non_blocking=True) for values in trainer.feed.read(index))
        if context is None:
            loss = loss_of(model(inputs), targets)
        else:
            with context:
                loss = loss_of(model(inputs), targets)
        (loss * scale).backward()

    return backward


def _square_of(gradients: Gradients) -> Tensor:
    """|g|^2 in float64, of a gradient in pieces; None is a piece of zeros."""
    squares = [torch.linalg.vector_norm(g, dtype=torch.float64) ** 2 for g in gradients if g is not None]
    return torch.stack(squares).sum()
