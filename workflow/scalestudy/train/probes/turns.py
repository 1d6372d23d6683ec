"""Turns between ranks: rank 0 works alone, and the others sleep until it gives the next turn.

They wait for a key of the rendezvous' store: a read from a socket, which uses neither processor nor device. A
collective is not suitable: it may spin, and one of NCCL occupies the devices of the ranks that wait.
"""

import datetime
import json
from dataclasses import asdict, dataclass

import torch.distributed as dist

# The watchdog detects a rank that hangs, within the study's stall limit.
NO_LIMIT = datetime.timedelta(days=30)


@dataclass(frozen=True)
class Turn:
    """The message of rank 0 to the other ranks."""

    steps: int
    blocks: int
    """Numbers of steps and blocks that rank 0 has recorded so far."""
    block_steps: int = 0
    """Steps of each block, without lead-in; 0 in the last turn, in which nothing is trained."""
    refused: str = ""
    """Why the turns end early; empty if they do not."""


class Turns:
    """The turns of a process group. Every rank makes this object; rank 0 gives each turn, the others take it."""

    def __init__(self) -> None:
        self._store = dist.PrefixStore("turns", dist.distributed_c10d._get_default_store())
        self._number = 0

    def give(self, turn: Turn) -> None:
        """Let the other ranks continue."""
        self._store.set(self._next(), json.dumps(asdict(turn)))

    def take(self) -> Turn:
        """Sleep until rank 0 gives the turn."""
        key = self._next()
        self._store.wait([key], NO_LIMIT)
        return Turn(**json.loads(self._store.get(key)))

    def _next(self) -> str:
        self._number += 1
        return str(self._number)
