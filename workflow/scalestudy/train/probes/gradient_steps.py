"""Steps that evaluate gradients without changing the parameters: in one process, and with DDP."""

# No deferred annotations here: torch inspects the annotations of a hook.
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
"""Parts of the batch of a single process, if the batch is divisible by this."""

Gradients = list[Tensor | None]
Step = Callable[[list[Tensor]], tuple[Tensor, Gradients]]
"""Announced parts of a batch -> (sum of |g|^2 over this rank's gradients, float64; mean gradient of all ranks)."""


def parts_of_step(spec: TrainSpec) -> int:
    """Return the number of gradients per batch on a rank: one per micro-batch, else PARTS in a single process."""
    if spec.accumulation_steps > 1 or spec.strategy != "single":
        return spec.accumulation_steps
    return next(parts for parts in (PARTS, 2, 1) if spec.batch_per_rank % parts == 0)


def announce(trainer: Trainer, random: torch.Generator, steps: int) -> list[list[Tensor]]:
    """Draw index batches for `steps` steps with replacement, announce their parts to the feed and return them."""
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
    """Return a step for one process, without compiled code: it would be compiled again for parts of a batch."""
    trainer.plain._compiled_call_impl = None
    return _step(trainer, trainer.plain, _square_of)


@dataclass
class _Squares:
    """Sum of |g|^2 of this rank's gradient over the buckets so far; float64."""

    total: Tensor


def step_of_ranks(trainer: Trainer) -> Step:
    """Return a step for DDP, in a new wrapper: a rank's gradient before the all-reduce, and the mean after it."""
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
    """Return a step with a separate backward pass for each part, each without earlier gradients.

    square_of: called after each backward pass with the gradients.
    """
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
            if len(parts) > 1:  # DDP may write the next gradients to the same memory
                mine = [None if gradient is None else gradient / len(parts) for gradient in mine]
            mean = [_sum(*pair) for pair in zip(mean, mine, strict=True)] if mean else mine
        return square, mean

    return make


def _sum(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    if first is None or second is None:
        return second if first is None else first
    return first.add_(second)


def _looked_at_all_reduce(state: _Squares, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Reduce a bucket to the mean over ranks, as DDP does itself, after adding |g|^2 of the bucket to `state`."""
    buffer = bucket.buffer()
    state.total = state.total + _square_of([buffer])
    buffer.div_(dist.get_world_size())
    work = dist.all_reduce(buffer, async_op=True)

    def done(future: torch.futures.Future[list[torch.Tensor]]) -> torch.Tensor:
        return future.value()[0]

    summed: torch.futures.Future[torch.Tensor] = work.get_future().then(done)
    return summed


def _backward(trainer: Trainer, model: nn.Module) -> Callable[[Tensor], None]:
    """Return a function that runs the forward and backward pass of an index batch, with loss scaling."""
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
    """Return |g|^2 in float64 of a gradient in pieces; None is a piece of zeros."""
    squares = [torch.linalg.vector_norm(g, dtype=torch.float64) ** 2 for g in gradients if g is not None]
    return torch.stack(squares).sum()
