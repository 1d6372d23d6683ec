"""Whose turn it is: rank 0 works alone while the others sleep, until it says so.

They wait for a key of the store by which the ranks met: a read from a socket, which takes no processor and no
device. A collective would not do: one of gloo or NCCL may spin, and NCCL's holds the device of those that wait.
"""

import datetime

import torch.distributed as dist

# Whoever never comes is the watchdog's to notice, which knows how long the study lets a rank stand still.
NO_LIMIT = datetime.timedelta(days=30)


class Turns:
    """Of all ranks of the process group; each makes one, and calls one of the two methods in turn."""

    def __init__(self) -> None:
        self._store = dist.PrefixStore("turns", dist.distributed_c10d._get_default_store())
        self._number = 0

    def give(self, word: str = "") -> None:
        """Rank 0: the others go on, and learn this word."""
        self._store.set(self._next(), word)

    def take(self) -> str:
        """The others: sleep until rank 0 gives the turn; its word."""
        key = self._next()
        self._store.wait([key], NO_LIMIT)
        return self._store.get(key).decode()

    def _next(self) -> str:
        self._number += 1
        return str(self._number)
