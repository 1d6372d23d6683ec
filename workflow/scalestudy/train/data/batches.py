"""Which samples a rank takes in which step: every rank cuts its share from the same shuffled order."""

from __future__ import annotations

import torch
from torch import Tensor


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
    order = _order(samples, seed=seed, epoch=epoch)
    share = global_batch // world_size
    starts = range(rank * share, samples - global_batch + 1 + rank * share, global_batch)
    return [order[start : start + share] for start in starts]


def tail_indices(
    samples: int, *, global_batch: int, rank: int, world_size: int, parts: int, seed: int, epoch: int
) -> Tensor:
    """Indices of this rank's part of what `batch_indices` drops, as far as it divides among ranks and parts.

    May be empty. parts: micro-batches, which are to be of one size.
    """
    order = _order(samples, seed=seed, epoch=epoch)
    rest = order[samples - samples % global_batch :]
    share = len(rest) // (world_size * parts) * parts
    return rest[rank * share : (rank + 1) * share]


def _order(samples: int, *, seed: int, epoch: int) -> Tensor:
    return torch.randperm(samples, generator=torch.Generator().manual_seed(seed * 100_003 + epoch))
