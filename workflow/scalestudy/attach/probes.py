"""Probes of the cost of communication, in the script's own steps once its step time is measured.

The run ends after the probes, so their side effect does no harm (replicas without synchronisation diverge).
Blocks of steps with gradient synchronisation, without it, and with DDP's logger alternate, in an order that is the
same on all ranks. Then the collectives are timed at the sizes of the model's own buckets.
"""

from __future__ import annotations

import csv
import math
import os
import random
import time
from typing import Any, Callable

SYNC, NO_SYNC, LOGGER = "probe-sync", "probe-no-sync", "probe-logger"
SETTLE, SETTLE_STEPS = "settle", 3
BLOCK_S, FEWEST_STEPS = 0.15, 3
"""Target duration of a block in seconds, and its fewest steps, as in our own training (train/probes)."""
FIELDS = ("backward_compute_time", "backward_comm_time", "backward_compute_comm_overlap_time")
USUAL_SAMPLE_RATE = 100
SMALL_BYTES = (4, 1024, 16 * 1024)
WARMUP_CALLS, MOST_CALLS, FEWEST_CALLS, SECONDS_PER_SIZE = 3, 30, 5, 0.1


def block_steps(most: int, step_time_s: float) -> int:
    """Number of steps of a block. most: the study's number of steps for probes."""
    return min(most, max(FEWEST_STEPS, math.ceil(BLOCK_S / step_time_s)))


def phases_of(rounds: int, steps: int, seed: int) -> list[str]:
    """The phase of each step of the probes, the same on all ranks.

    Ranks without synchronisation drift apart in time. In the next synchronised step they wait for each other, so
    that step is not counted.
    """
    shuffle, found = random.Random(seed), [SETTLE] * SETTLE_STEPS
    for _ in range(rounds):
        for kind in shuffle.sample((SYNC, NO_SYNC, LOGGER), 3):
            found += [kind] * steps + [SETTLE] * (kind == NO_SYNC)
    return found


class Probes:
    """The probes of one rank, whose model is a DistributedDataParallel."""

    def __init__(self, ddp: Any) -> None:
        self._ddp = ddp
        self._first = 0
        self._phases: list[str] = []
        self.logged: list[float] = []
        """Seconds of FIELDS that were read at the end of the last step; they are about the step before it."""

    def schedule(self, first: int, phases: list[str]) -> None:
        """Set the phases of the steps from number `first` on."""
        self._phases, self._first = phases, first

    def phase_of(self, step: int) -> str:
        """The phase of a step; '' for the script's own steps."""
        place = step - self._first
        return self._phases[place] if self._phases and 0 <= place < len(self._phases) else ""

    def step_ends(self, step: int) -> None:
        """After the update of a step: read DDP's logger if needed, and set DDP for the next step."""
        if not self._phases:
            return
        now, following = self.phase_of(step), self.phase_of(step + 1)
        self.logged = self._read() if now == LOGGER else []
        if now == following:
            return
        self._ddp.require_backward_grad_sync = following != NO_SYNC
        if LOGGER in (now, following):
            self._ddp._set_ddp_runtime_logging_sample_rate(1 if following == LOGGER else USUAL_SAMPLE_RATE)

    def _read(self) -> list[float]:
        facts = self._ddp._get_ddp_logging_data()
        return [1e-9 * facts[field] if field in facts else math.nan for field in FIELDS]


def time_collectives(torch: Any, path: str, messages: list[int], *, broadcast_bytes: int = 0) -> None:
    """Write a row for each call of each collective at each size. All ranks call this after the same step.

    broadcast_bytes: bytes of the buffers that DDP broadcasts in each forward pass; 0 if it broadcasts nothing.
    """
    distributed = torch.distributed
    world = distributed.get_world_size()
    device = "cuda" if str(distributed.get_backend()) == "nccl" else "cpu"
    unit = 4 * world  # a float32 of every rank
    rows = []
    for size in sorted({max(unit, size // unit * unit) for size in (*SMALL_BYTES, *messages)}):
        for name, call in _calls(torch, size // 4, world, device).items():
            times = _times(torch, call, device)
            rows += [(name, size, index, time_s) for index, time_s in enumerate(times)]
    if broadcast_bytes:
        buffers = torch.zeros(max(1, broadcast_bytes // 4), device=device)
        times = _times(torch, lambda: distributed.broadcast(buffers, 0), device)
        rows += [("broadcast", 4 * buffers.numel(), index, time_s) for index, time_s in enumerate(times)]
    with open(path + ".tmp", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("collective", "bytes", "call", "time_s"), *rows])
    os.replace(path + ".tmp", path)


def _calls(torch: Any, count: int, world: int, device: str) -> dict[str, Callable[[], Any]]:
    """Each collective on a message of `count` float32 values: the data of a rank after an all-gather."""
    distributed = torch.distributed
    whole, mine = torch.zeros(count, device=device), torch.zeros(count // world, device=device)
    gather = getattr(distributed, "all_gather_single", None) or distributed.all_gather_into_tensor
    scatter = getattr(distributed, "reduce_scatter_single", None) or distributed.reduce_scatter_tensor
    return {
        "all-reduce": lambda: distributed.all_reduce(whole),
        "all-gather": lambda: gather(whole, mine),
        "reduce-scatter": lambda: scatter(mine, whole),
    }


def _times(torch: Any, call: Callable[[], Any], device: str) -> list[float]:
    """Seconds of each call on this rank. All ranks make the same number of calls."""

    def timed() -> float:
        begin = time.perf_counter()
        call()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    torch.distributed.barrier()
    slowest = torch.tensor([max(timed() for _ in range(WARMUP_CALLS))], dtype=torch.float64, device=device)
    torch.distributed.all_reduce(slowest, op=torch.distributed.ReduceOp.MAX)
    calls = min(MOST_CALLS, max(FEWEST_CALLS, int(SECONDS_PER_SIZE / float(slowest))))
    return [timed() for _ in range(calls)]
