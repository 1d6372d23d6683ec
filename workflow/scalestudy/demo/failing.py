"""`python -m scalestudy.demo.failing`: a rank whose training or probes fail in a chosen way.

Started instead of scalestudy.train, with the same arguments. The variable FAILS names the fault of the last rank.
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
"""Blocks that are trained and kept before the fault, including the warm-up."""
TOO_MUCH = 1 << 50
"""Number of bytes that no host and no device has."""


def raise_(error: Exception) -> Callable[[Trainer], None]:
    """A fault that raises this error."""

    def fail(_: Trainer) -> None:
        raise error

    return fail


def allocate(trainer: Trainer) -> None:
    """Request more memory from the allocator of the rank's device than exists."""
    next(trainer.plain.parameters()).new_empty(TOO_MUCH // 4)


def poison(trainer: Trainer) -> None:
    """Set the parameters of this rank to NaN, so that the loss of its next forward pass is NaN."""
    for parameter in trainer.plain.parameters():
        parameter.data.fill_(float("nan"))


def leave_half(trainer: Trainer) -> None:
    """Limit this rank to memory for a step and half of the gradients of the whole model; only on a CPU."""
    at_rest = max(0.0, trainer.gauges.free_at_rest_gib()) * GIB
    limit = mapped_bytes() + int(at_rest + trainer.gradient_bytes / 2)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def kill(signum: int) -> Callable[[Trainer], None]:
    """A fault that makes the rank send a signal to itself."""
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
    """Whether this is the last rank of the run."""
    return int(os.environ.get("RANK", 0)) + 1 == int(os.environ.get("WORLD_SIZE", 1))


def fail_in_training(fail: Callable[[Trainer], None]) -> None:
    """Make the last rank fail once, when it begins its fourth block."""
    train_block, begun = Trainer.train_block, []

    def block(self: Trainer, *arguments: Any) -> Any:
        begun.append(1)
        if len(begun) == BLOCKS_BEFORE + 1 and is_last():
            fail(self)
        return train_block(self, *arguments)

    replace(Trainer, "train_block", block)


def fail_in_probes(fail: Callable[[Trainer], None]) -> None:
    """Make the last rank fail when it begins its probes."""

    def probes(trainer: Trainer) -> dict[str, Any]:
        if is_last():
            fail(trainer)
        return run_probes(trainer)

    replace(rank, "run_probes", probes)


def fail_as_asked() -> None:
    """Inject the fault that FAILS names into this process; `nothing` injects no fault."""
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
