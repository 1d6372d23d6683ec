"""Whose turn it is: rank 0 works alone while the others sleep, until it says so.

They wait for a key of the store by which the ranks met: a read from a socket, which takes no processor and no
device. A collective would not do: one of gloo or NCCL may spin, and NCCL's holds the device of those that wait.
"""

import datetime
import json
from dataclasses import asdict, dataclass

import torch.distributed as dist

# Whoever never comes is the watchdog's to notice, which knows how long the study lets a rank stand still.
NO_LIMIT = datetime.timedelta(days=30)


@dataclass(frozen=True)
class Turn:
    """What rank 0 says when the others may go on."""

    steps: int
    blocks: int
    """Recorded by rank 0 so far."""
    block_steps: int = 0
    """Steps of every block that counts; 0 in the last turn, in which nothing is trained."""
    refused: str = ""
    """Why the turns end before their time; empty where they do not."""


class Turns:
    """Of all ranks of the process group. Each makes one; rank 0 gives every turn, and the others take it."""

    def __init__(self) -> None:
        self._store = dist.PrefixStore("turns", dist.distributed_c10d._get_default_store())
        self._number = 0

    def give(self, turn: Turn) -> None:
        """The others go on."""
        self._store.set(self._next(), json.dumps(asdict(turn)))

    def take(self) -> Turn:
        """Sleep until rank 0 gives the turn."""
        key = self._next()
        self._store.wait([key], NO_LIMIT)
        return Turn(**json.loads(self._store.get(key)))

    def _next(self) -> str:
        self._number += 1
        return str(self._number)
