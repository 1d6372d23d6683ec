"""Data in host memory, and the batches of one rank: every rank cuts its share from the same shuffled order."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import Tensor

from scalestudy.study.workloads import DigitsData


@dataclass(frozen=True)
class Split:
    """Inputs and targets of the two parts of a data set, in host memory."""

    train_inputs: Tensor
    train_targets: Tensor
    validation_inputs: Tensor
    validation_targets: Tensor


def load_split(data: DigitsData) -> Split:
    """The digits as (N, 1, 8, 8) floats in [0, 1]; the held-out images are the same in every run."""
    digits = load_digits()
    inputs = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    targets = torch.tensor(digits.target, dtype=torch.long)
    order = torch.randperm(len(targets), generator=torch.Generator().manual_seed(0))
    validation, train = order[: data.validation_samples], order[data.validation_samples :]
    return Split(
        train_inputs=inputs[train],
        train_targets=targets[train],
        validation_inputs=inputs[validation],
        validation_targets=targets[validation],
    )


def batch_indices(
    samples: int,
    *,
    global_batch: int,
    rank: int,
    world_size: int,
    seed: int,
    epoch: int,
) -> list[Tensor]:
    """Indices of this rank's part of each global batch of an epoch; a last, short batch is dropped.

    The order depends on seed and epoch only. So the union over ranks of the k-th batch is the k-th batch of a
    single process at the same global batch, and strong scaling trains on the same sequence at every scale.
    """
    generator = torch.Generator().manual_seed(seed * 100_003 + epoch)
    order = torch.randperm(samples, generator=generator)
    share = global_batch // world_size
    starts = range(rank * share, samples - global_batch + 1 + rank * share, global_batch)
    return [order[start : start + share] for start in starts]
