"""Loss and accuracy on the held-out samples, shared among the ranks; not part of what is timed."""

import contextlib
import math

import torch
from torch import Tensor, nn

from scalestudy.train.data import Split
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.workloads.task import correct_of, loss_of


@torch.no_grad()
def validate(
    model: nn.Module,
    split: Split,
    place: Placement,
    strategy: Strategy,
    *,
    chunk: int,
    autocast: torch.autocast | None,
) -> tuple[float, float]:
    """(mean loss, share that is right) over all held-out samples; chunk: samples of a forward pass.

    A chunk as large as a training pass needs no more memory than that did. model: without a wrapper. autocast:
    that of the training, so that the arithmetic which was trained is judged; None where it has none.

    Every rank makes the same number of forward passes, since a sharded model is gathered in each: a rank that has
    no sample left passes one that does not count.
    """
    samples, world = len(split.validation_targets), place.world_size
    mine = torch.arange(place.rank, samples, world)
    sums = torch.zeros(3, dtype=torch.float64, device=place.device)
    was_training = model.training
    model.eval()
    for number in range(math.ceil(math.ceil(samples / world) / chunk)):
        index = mine[number * chunk : (number + 1) * chunk]
        counts = len(index) > 0
        index = (index if counts else torch.zeros(1, dtype=torch.long)).to(split.validation_inputs.device)
        inputs, targets = split.validation_inputs[index].to(place.device), split.validation_targets[index]
        targets = targets.to(place.device)
        with autocast or contextlib.nullcontext():
            logits: Tensor = model(inputs)
            loss_of_chunk = loss_of(logits, targets)
        if counts:
            correct, counted = correct_of(logits, targets)
            sums[0] += loss_of_chunk.double() * counted
            sums[1] += correct
            sums[2] += counted
    model.train(was_training)
    loss, correct, count = strategy.all_reduce_sum(sums).tolist()
    return loss / count, correct / count
