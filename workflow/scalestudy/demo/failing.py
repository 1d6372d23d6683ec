"""`python -m scalestudy.demo.failing`: a rank whose training or probes fail in a chosen way.

Started in the place of scalestudy.train, with the same arguments. The variable FAILS says what the last rank does.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from typing import Any

from scalestudy.train import rank
from scalestudy.train.__main__ import run
from scalestudy.train.acceptance.rank import replace, share_device
from scalestudy.train.loop import DivergedError, Trainer
from scalestudy.train.place import watchdog
from scalestudy.train.place.memory_limit import GIB, mapped_bytes
from scalestudy.train.probes import run_probes

FAILS = "SCALESTUDY_FAILS"
BLOCKS_BEFORE = 3
"""Blocks that are trained and kept before the fault, the warm-up included."""
TOO_MUCH = 1 << 50
"""Bytes that no host and no device has."""


def raise_(error: Exception) -> Callable[[Trainer], None]:
    """A fault that raises this error."""

    def fail(_: Trainer) -> None:
        raise error

    return fail


def allocate(trainer: Trainer) -> None:
    """Ask the allocator of the rank's device for more than there is."""
    next(trainer.plain.parameters()).new_empty(TOO_MUCH // 4)


def poison(trainer: Trainer) -> None:
    """Make the parameters of this rank not a number; its loss is none in its next forward pass."""
    for parameter in trainer.plain.parameters():
        parameter.data.fill_(float("nan"))


def leave_half(trainer: Trainer) -> None:
    """Leave this rank memory for a step and for half of the gradients of the whole model; on a CPU."""
    at_rest = max(0.0, trainer.gauges.free_at_rest_gib()) * GIB
    limit = mapped_bytes() + int(at_rest + trainer.gradient_bytes / 2)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def kill(signum: int) -> Callable[[Trainer], None]:
    """A fault that sends a signal to the rank itself."""
    return lambda _: os.kill(os.getpid(), signum)


FAULTS: dict[str, Callable[[Trainer], None]] = {
    "memory": raise_(MemoryError()),
    "allocation": allocate,
    "diverged": raise_(DivergedError("loss is nan at step 7 on rank 1")),
    "nan": poison,
    "exception": raise_(ValueError("of the user's own")),
    "hang": lambda _: time.sleep(3600),
    "killed": kill(signal.SIGKILL),
    "terminated": kill(signal.SIGTERM),
}
IN_PROBES: dict[str, Callable[[Trainer], None]] = {"probe": allocate, "little memory": leave_half}


def is_last() -> bool:
    """Whether this is the last rank of the launch."""
    return int(os.environ.get("RANK", 0)) + 1 == int(os.environ.get("WORLD_SIZE", 1))


def fail_in_training(fail: Callable[[Trainer], None]) -> None:
    """Have the last rank fail once, as it begins its fourth block."""
    train_block, begun = Trainer.train_block, []

    def block(self: Trainer, *arguments: Any) -> Any:
        begun.append(1)
        if len(begun) == BLOCKS_BEFORE + 1 and is_last():
            fail(self)
        return train_block(self, *arguments)

    replace(Trainer, "train_block", block)


def fail_in_probes(fail: Callable[[Trainer], None]) -> None:
    """Have the last rank fail as it begins its probes."""

    def probes(trainer: Trainer) -> dict[str, Any]:
        if is_last():
            fail(trainer)
        return run_probes(trainer)

    replace(rank, "run_probes", probes)


def fail_as_asked() -> None:
    """Put the fault that FAILS names into this process; `nothing` puts in none."""
    replace(rank, "LEAVING_S", 3)
    replace(watchdog, "ANSWER_S", 1.0)
    wanted = os.environ[FAILS]
    if wanted in IN_PROBES:
        fail_in_probes(IN_PROBES[wanted])
    elif wanted != "nothing":
        fail_in_training(FAULTS[wanted])


if __name__ == "__main__":
    share_device()
    fail_as_asked()
    run()
