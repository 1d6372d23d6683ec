"""Loss and accuracy on the held-out samples, which the ranks share. This is not timed."""

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
    """Return (mean loss, accuracy) over all held-out samples.

    chunk: samples per forward pass; as many as in a training pass need no more memory than training did. model:
    without a wrapper. autocast: as in training, so that validation uses the same arithmetic; None if training has
    none. Every rank makes the same number of forward passes, since each pass gathers a sharded model: a rank
    without samples left passes one sample that does not count.
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
