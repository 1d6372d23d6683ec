"""The collectives of a step at the model's own message sizes, on the otherwise idle ranks of the run.

Their time without other work is a lower bound on the time of the same message in training.

With gloo each call is timed by itself, since the host waits for it, also on a GPU. With NCCL calls are queued
(train/probes/queued_calls.py), and two large messages are added if memory allows, so that the fit over sizes can
determine the bandwidth.
"""

import time
from collections.abc import Callable

import torch
import torch.distributed as dist

from scalestudy.train.loop import Trainer
from scalestudy.train.probes.queued_calls import hold_back, time_queued
from scalestudy.train.probes.rounds import largest_over_ranks
from scalestudy.train.step.clock import CudaClock
from scalestudy.train.strategies.base import all_gather, reduce_scatter

SMALL_BYTES = (4, 1024, 16 * 1024)  # latency dominates
LARGE_BYTES = (64 * 2**20, 256 * 2**20)  # bandwidth dominates; NCCL only
MESSAGES_IN_MEMORY = 4
"""Number of messages that must fit into free memory: the call's own, its part on a rank, and NCCL's buffers."""
WARMUP_CALLS = 3
MOST_CALLS, FEWEST_CALLS = 30, 5
SECONDS_PER_SIZE = 0.1


def probe_collectives(trainer: Trainer, messages: list[int]) -> None:
    """Record the calls of each collective at each size. messages: bytes of the gradient buckets.

    A broadcast is only timed if DDP broadcasts the model's buffers, and at their size.
    """
    world, device, queued = trainer.place.world_size, trainer.place.device, trainer.place.backend == "nccl"
    unit = 4 * world  # a float32 of every rank
    large = large_messages(_free_bytes(trainer)) if queued else ()
    sizes = sorted({max(unit, size // unit * unit) for size in (*SMALL_BYTES, *messages, *large)})
    calls = [(name, size) for name in ("all-reduce", "all-gather", "reduce-scatter") for size in sizes]
    if trainer.buffer_bytes and trainer.spec.strategy == "ddp" and trainer.spec.ddp.broadcast_buffers:
        calls.append(("broadcast", max(4, trainer.buffer_bytes // 4 * 4)))
    for name, size in calls:
        call = _call(name, size // 4, world, device)
        rows: list[dict[str, float]]
        if queued:
            rows = _time_on_device(trainer, call)
        else:
            rows = [{"time_s": time_s} for time_s in _time_calls(trainer, call)]
        trainer.recorder.add_rows(
            "collectives",
            [{"collective": name, "bytes": size, "call": index, **row} for index, row in enumerate(rows)],
        )


def large_messages(free_bytes: float) -> tuple[int, ...]:
    """Return those of LARGE_BYTES that fit into memory. free_bytes: minimum over ranks."""
    return tuple(size for size in LARGE_BYTES if MESSAGES_IN_MEMORY * size <= free_bytes)


def _free_bytes(trainer: Trainer) -> float:
    """Return the free bytes on the device, or within the study's limit (minimum over ranks)."""
    free, _ = torch.cuda.mem_get_info(trainer.place.device)
    if limit_gib := trainer.spec.host.memory_limit_gib:
        free = min(free, int(limit_gib * 2**30) - torch.cuda.memory_reserved(trainer.place.device))
    return -largest_over_ranks(trainer, -float(free))


def _time_on_device(trainer: Trainer, call: Callable[[], object]) -> list[dict[str, float]]:
    """Return `time_s` and `enqueue_s` of queued calls, one row per group of calls."""
    trainer.strategy.barrier()
    clock = CudaClock()
    return time_queued(call, clock, hold=hold_back, agree=lambda value: largest_over_ranks(trainer, value))


def _time_calls(trainer: Trainer, call: Callable[[], object]) -> list[float]:
    """Return the seconds of each call on this rank, by the host's clock; all ranks make equally many calls."""

    def timed() -> float:
        begin = time.perf_counter()
        call()
        if trainer.place.device.type == "cuda":
            torch.cuda.synchronize()  # gloo copies the result to the device after the host's wait
        return time.perf_counter() - begin

    trainer.strategy.barrier()
    first = max(timed() for _ in range(WARMUP_CALLS))
    agreed = torch.tensor([first], dtype=torch.float64, device=trainer.place.device)
    slowest = trainer.strategy.all_reduce_max(agreed).item()
    calls = min(MOST_CALLS, max(FEWEST_CALLS, int(SECONDS_PER_SIZE / slowest)))
    return [timed() for _ in range(calls)]


def _call(name: str, count: int, world: int, device: torch.device) -> Callable[[], object]:
    """Return a function that calls a collective on a message of `count` float32.

    This is the complete message, as in nccl-tests: what a rank has after an all-gather, or before a
    reduce-scatter.
    """
    whole, mine = torch.zeros(count, device=device), torch.zeros(count // world, device=device)
    calls: dict[str, Callable[[], object]] = {
        "all-reduce": lambda: dist.all_reduce(whole),
        "all-gather": lambda: all_gather(whole, mine),
        "reduce-scatter": lambda: reduce_scatter(mine, whole),
        "broadcast": lambda: dist.broadcast(whole, src=0),
    }
    return calls[name]
