"""The samples of each rank in each step: every rank takes its share of the same shuffled order."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Share:
    """One rank's share of the samples of an epoch.

    The order depends on seed and epoch only. So the union over ranks of the k-th batches is the k-th batch of a
    single process with the same global batch, and strong scaling trains on the same sequence at every scale.
    """

    samples: int
    """Number of samples over all ranks."""
    global_batch: int
    rank: int
    world_size: int
    seed: int
    reshuffle: bool = True
    """Whether each epoch is shuffled differently."""

    def batches(self, epoch: int) -> list[Tensor]:
        """Return the indices of this rank's part of each global batch; a last, short batch is dropped."""
        order, share = self._order(epoch), self.global_batch // self.world_size
        begin = self.rank * share
        starts = range(begin, self.samples - self.global_batch + 1 + begin, self.global_batch)
        return [order[start : start + share] for start in starts]

    def tail(self, epoch: int, *, parts: int) -> Tensor:
        """Return this rank's part of what `batches` drops, as far as it divides among ranks and parts.

        May be empty. parts: number of micro-batches, which must have equal sizes.
        """
        rest = self._order(epoch)[self.samples - self.samples % self.global_batch :]
        share = len(rest) // (self.world_size * parts) * parts
        return rest[self.rank * share : (self.rank + 1) * share]

    def _order(self, epoch: int) -> Tensor:
        shuffle = self.seed * 100_003 + (epoch if self.reshuffle else 1)
        return torch.randperm(self.samples, generator=torch.Generator().manual_seed(shuffle))
