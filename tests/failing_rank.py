"""A rank whose training or probes fail in a chosen way, over gloo or over a backend that is as strict as NCCL.

Started in the place of `scalestudy.train`, with the same arguments. FAILS says what the last rank does, BACKEND
over which backend all of them talk.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import strict_backend
from scalestudy.train import rank
from scalestudy.train.__main__ import run
from scalestudy.train.loop import DivergedError, Trainer
from scalestudy.train.place import watchdog
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Grouped

FAILS, BACKEND = "TEST_FAILS", "TEST_BACKEND"
BLOCKS_BEFORE = 3


def raise_(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


FAULTS: dict[str, Callable[[], None]] = {
    "memory": raise_(MemoryError()),
    "diverged": raise_(DivergedError("loss is nan at step 7 on rank 1")),
    "exception": raise_(ValueError("of the user's own")),
    "hang": lambda: time.sleep(3600),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


def fail_in_training(fail: Callable[[], None]) -> None:
    train_block, made = Trainer.train_block, []

    def block(self: Trainer, *arguments: Any) -> Any:
        made.append(1)
        if len(made) > BLOCKS_BEFORE and os.environ["RANK"] == "1":
            fail()
        return train_block(self, *arguments)

    Trainer.train_block = block


def fail_in_probes() -> None:
    probe = rank.run_probes

    def probes(trainer: Trainer) -> dict[str, Any]:
        if trainer.place.rank == 1:
            raise MemoryError
        return probe(trainer)

    rank.run_probes = probes


def never_end_the_group() -> None:
    """As NCCL's, where another rank is in a kernel or gone."""

    def close(_: Grouped) -> None:
        time.sleep(3600)

    Grouped.close = close


def talk_over(backend: str) -> None:
    place_rank = rank.place_rank

    def place(*arguments: Any) -> Placement:
        return replace(place_rank(*arguments), backend=backend)

    rank.place_rank = place


if __name__ == "__main__":
    rank.LEAVING_S, watchdog.ANSWER_S = 3, 1.0
    strict_backend.register()
    talk_over(os.environ[BACKEND])
    wanted = os.environ[FAILS]
    if wanted == "probe":
        fail_in_probes()
    elif wanted == "lingering":
        never_end_the_group()
    elif wanted != "nothing":
        fail_in_training(FAULTS[wanted])
    run()
