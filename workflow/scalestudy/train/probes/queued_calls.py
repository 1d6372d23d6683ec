"""Times calls on a device as training makes them: queued, one after another.

Waiting for each call would measure its launch, its work and the wait together. Here several calls are placed
between two events, and the device is kept busy until all of them are queued. So the events time only the device,
and the host's clock times only the launches.
"""

import time
from collections.abc import Callable

import torch

from scalestudy.train.step.clock import Clock

WARMUP_CALLS = 5
QUEUED_CALLS = 10
"""Calls between two events. NCCL and the driver queue many more before the host has to wait."""
MOST_GROUPS, FEWEST_GROUPS = 30, 5
SECONDS_PER_SIZE = 0.5
HELD_FACTOR = 3.0
"""The device is kept busy for this multiple of the time that launching the calls took in the first group."""
CYCLES_PER_S = 2e9
"""Fastest clock of a GPU; a slower one is kept busy for longer."""


def hold_back(seconds: float) -> None:
    """Keep the current stream of the device busy for at least `seconds`."""
    torch.cuda._sleep(int(seconds * CYCLES_PER_S))


def time_queued(
    call: Callable[[], object],
    clock: Clock,
    *,
    hold: Callable[[float], None],
    agree: Callable[[float], float],
) -> list[dict[str, float]]:
    """Return a row per group of QUEUED_CALLS calls: `time_s` of one call on the device, `enqueue_s` on the host.

    Both are in seconds. clock: of the device. hold: keeps the device busy for a number of seconds. agree: returns
    the maximum over ranks, so that all ranks make the same number of calls.
    """
    for _ in range(WARMUP_CALLS):
        call()
    clock.settle()
    first = _group(call, clock, hold, held_s=0.0)  # also measures how long the host takes
    held_s = HELD_FACTOR * QUEUED_CALLS * first["enqueue_s"]
    slowest_s = agree(QUEUED_CALLS * max(first["time_s"], first["enqueue_s"]) + held_s)
    groups = min(MOST_GROUPS, max(FEWEST_GROUPS, int(SECONDS_PER_SIZE / slowest_s)))
    return [_group(call, clock, hold, held_s=held_s) for _ in range(groups)]


def _group(
    call: Callable[[], object], clock: Clock, hold: Callable[[float], None], *, held_s: float
) -> dict[str, float]:
    if held_s:
        hold(held_s)
    begins = clock.now()
    begin = time.perf_counter()
    for _ in range(QUEUED_CALLS):
        call()
    enqueued_s = time.perf_counter() - begin
    (device_s,) = clock.between([begins, clock.now()])
    return {"time_s": float(device_s) / QUEUED_CALLS, "enqueue_s": enqueued_s / QUEUED_CALLS}
