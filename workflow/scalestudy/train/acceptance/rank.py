"""`python -m scalestudy.train.acceptance.rank`: a rank that also times all-reduces in a plain loop.

It is started instead of scalestudy.train, with the same arguments. The loop runs just before and just after the
probe of collectives, and the record has its times as the fact LOOP.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace as replaced
from typing import Any

import torch
import torch.distributed as dist

from scalestudy.study.config.conditions import Host
from scalestudy.train import probes, rank
from scalestudy.train.__main__ import run
from scalestudy.train.loop import Trainer
from scalestudy.train.place.placement import Placement, place_rank
from scalestudy.train.probes import run_probes
from scalestudy.train.probes.collectives import probe_collectives

SHARED = "SCALESTUDY_SHARED_DEVICE"
"""If this variable is 1, all ranks use the first CUDA device and communicate over gloo."""
LOOP = "accept_loop"
ROUNDS, CALLS = 15, {"cpu": 1, "cuda": 10}


def replace(place: object, name: str, function: object) -> None:
    """Replace an attribute of a module, a class or an object.

    Raises AttributeError if the attribute does not exist: a fault without effect would look like one that was
    tested.
    """
    getattr(place, name)
    setattr(place, name, function)


def share_device() -> None:
    """Put all ranks on one CUDA device if SHARED is set. This does not measure scaling."""
    if os.environ.get(SHARED) != "1":
        return

    def place(host: Host) -> Placement:
        device = torch.device("cuda", 0)
        found = place_rank(host.model_copy(update={"device": "cpu"}))
        torch.cuda.set_device(device)
        return replaced(found, device=device, backend="gloo", choice="all ranks share one CUDA device; gloo")

    replace(rank, "place_rank", place)


def time_calls(trainer: Trainer, size: int) -> list[float]:
    """Return the seconds of an all-reduce of `size` bytes on this rank: ROUNDS means over the CALLS of its device.

    CUDA: by events around the calls of a round; CPU: by the host's clock.
    """
    message = torch.zeros(size // 4, device=trainer.place.device)
    timed, calls = (_by_events if message.is_cuda else _by_host), CALLS[trainer.place.device.type]

    def reduce() -> None:
        for _ in range(calls):
            dist.all_reduce(message)

    timed(reduce)
    return [timed(reduce) / calls for _ in range(ROUNDS)]


def _by_events(call: Callable[[], object]) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) * 1e-3


def _by_host(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def time_loop() -> None:
    """Run the loop before and after the probe of collectives, and record its times."""
    found: dict[str, Any] = {}

    def probe_between(trainer: Trainer, messages: list[int]) -> None:
        unit = 4 * trainer.place.world_size
        size = max(messages) // unit * unit
        before = time_calls(trainer, size)
        probe_collectives(trainer, messages)
        found[LOOP] = {"bytes": size, "times_s": [*before, *time_calls(trainer, size)]}

    replace(probes, "probe_collectives", probe_between)
    replace(rank, "run_probes", lambda trainer: run_probes(trainer) | found)


if __name__ == "__main__":
    share_device()
    time_loop()
    run()
