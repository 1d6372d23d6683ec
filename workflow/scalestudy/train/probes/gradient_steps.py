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
"""Index batches that were announced -> (sum of |g|^2 over this rank's gradients, float64; mean gradient)."""


def parts_of_step(spec: TrainSpec) -> int:
    """In how many gradients the batch of a single process is taken: its micro-batches, or parts of one."""
    if spec.accumulation_steps > 1:
        return spec.accumulation_steps
    return next(parts for parts in (PARTS, 2, 1) if spec.batch_per_rank % parts == 0)


def announce(trainer: Trainer, random: torch.Generator, count: int, groups: int) -> list[list[Tensor]]:
    """Index batches of so many steps in their parts, drawn with replacement and announced to the feed."""
    split, batch = trainer.split, trainer.spec.batch_per_rank
    device = "cpu" if split.train_inputs.device.type == "cpu" else trainer.place.device
    drawn = [torch.randint(split.train_samples, (batch,), generator=random).to(device) for _ in range(count)]
    parts = [
        list(index.tensor_split(groups)) if groups > 1 else list(trainer.stepper.micro_batches(index))
        for index in drawn
    ]
    trainer.feed.open([part for of_step in parts for part in of_step])
    return parts


def step_alone(trainer: Trainer, parameters: list[nn.Parameter]) -> Step:
    """One process: the parts of the batch one by one, without the compiled code of the batch as a whole."""
    model = trainer.plain
    model._compiled_call_impl = None  # code for the whole batch would be made anew
    backward = _backward(trainer)

    def make(parts: list[Tensor]) -> tuple[Tensor, Gradients]:
        square, total = torch.zeros((), dtype=torch.float64, device=trainer.place.device), Gradients()
        for part in parts:
            for parameter in parameters:
                parameter.grad = None
            backward(model, part, 1.0)
            mine = [parameter.grad for parameter in parameters]
            square += _square_of(mine)
            total = mine if not total else [_sum(*pair) for pair in zip(total, mine, strict=True)]
        return square, [None if gradient is None else gradient / len(parts) for gradient in total]

    return make


def _sum(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    if first is None or second is None:
        return second if first is None else first
    return first.add_(second)


@dataclass
class _Squares:
    """|g|^2 of this rank's gradient, over the buckets of a step so far; float64."""

    total: Tensor


def step_of_ranks(trainer: Trainer) -> Step:
    """DDP, in a wrapper of its own: what a rank has before the all-reduce, and what all have after it."""
    del trainer.stepper.model
    model = wrap_ddp(trainer.plain, trainer.spec, trainer.place.device, hooked=False)
    trainer.stepper.model = model
    state = _Squares(torch.zeros((), dtype=torch.float64, device=trainer.place.device))
    model.register_comm_hook(state, _looked_at_all_reduce)
    backward = _backward(trainer)
    parameters = [p for p in model.parameters() if p.requires_grad]

    def make(parts: list[Tensor]) -> tuple[Tensor, Gradients]:
        for parameter in parameters:
            parameter.grad = None
        state.total = torch.zeros_like(state.total)
        *first, last = parts
        for part in first:
            with model.no_sync():
                backward(model, part, 1 / len(parts))
        backward(model, last, 1 / len(parts))
        return state.total, [parameter.grad for parameter in parameters]

    return make


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


def _backward(trainer: Trainer) -> Callable[[nn.Module, Tensor, float], None]:
    """(model, index batch, share of the step's loss): adds the gradients, which have the scale of the loss."""
    device, context, scale = (
        trainer.place.device,
        autocast(trainer.spec, trainer.place),
        trainer.stepper.update.loss_scale,
    )

    def backward(model: nn.Module, index: Tensor, share: float) -> None:
        inputs, targets = (values.to(device, non_blocking=True) for values in trainer.feed.read(index))
        if context is None:
            loss = loss_of(model(inputs), targets)
        else:
            with context:
                loss = loss_of(model(inputs), targets)
        loss.mul(share * scale).backward()

    return backward


def _square_of(gradients: Gradients) -> Tensor:
    """|g|^2 in float64, of a gradient in pieces; None is a piece of zeros."""
    squares = [torch.linalg.vector_norm(g, dtype=torch.float64) ** 2 for g in gradients if g is not None]
    return torch.stack(squares).sum()
