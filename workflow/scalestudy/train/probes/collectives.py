"""The collectives of a step at the model's own message sizes, on the ranks of the launch, idle.

What the network gives when nothing else is going on: a lower bound on the time of the same message in training.

On a CPU each call is timed by itself. On CUDA calls are queued (train/probes/queued_calls.py), and two large
messages are added where memory allows, so that the fit over sizes has a bandwidth.
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

SMALL_BYTES = (4, 1024, 16 * 1024)  # where latency is all there is
LARGE_BYTES = (64 * 2**20, 256 * 2**20)  # where bandwidth is; on CUDA only
MESSAGES_IN_MEMORY = 4
"""Messages of a size that have to fit into free memory: the call's own, its part on a rank, and NCCL's buffers."""
WARMUP_CALLS = 3
MOST_CALLS, FEWEST_CALLS = 30, 5
SECONDS_PER_SIZE = 0.1


def probe_collectives(trainer: Trainer, messages: list[int]) -> None:
    """Record the calls of each collective at each size; `messages`: bytes of the gradient buckets.

    A broadcast only where DDP makes one, of the model's buffers, and at their size.
    """
    world, device = trainer.place.world_size, trainer.place.device
    unit = 4 * world  # a float32 of every rank
    large = large_messages(_free_bytes(trainer)) if device.type == "cuda" else ()
    sizes = sorted({max(unit, size // unit * unit) for size in (*SMALL_BYTES, *messages, *large)})
    calls = [(name, size) for name in ("all-reduce", "all-gather", "reduce-scatter") for size in sizes]
    if trainer.buffer_bytes and trainer.spec.strategy == "ddp" and trainer.spec.ddp.broadcast_buffers:
        calls.append(("broadcast", max(4, trainer.buffer_bytes // 4 * 4)))
    for name, size in calls:
        call = _call(name, size // 4, world, device)
        rows: list[dict[str, float]]
        if device.type == "cuda":
            rows = _time_on_device(trainer, call)
        else:
            rows = [{"time_s": time_s} for time_s in _time_calls(trainer, call)]
        trainer.recorder.add_rows(
            "collectives",
            [{"collective": name, "bytes": size, "call": index, **row} for index, row in enumerate(rows)],
        )


def large_messages(free_bytes: float) -> tuple[int, ...]:
    """Those of LARGE_BYTES for which there is memory; free_bytes: the smallest over ranks."""
    return tuple(size for size in LARGE_BYTES if MESSAGES_IN_MEMORY * size <= free_bytes)


def _free_bytes(trainer: Trainer) -> float:
    """Bytes that the device, or the study's limit on it, has left; the smallest over ranks."""
    free, _ = torch.cuda.mem_get_info(trainer.place.device)
    if limit_gib := trainer.spec.host.memory_limit_gib:
        free = min(free, int(limit_gib * 2**30) - torch.cuda.memory_reserved(trainer.place.device))
    return -largest_over_ranks(trainer, -float(free))


def _time_on_device(trainer: Trainer, call: Callable[[], object]) -> list[dict[str, float]]:
    """`time_s` and `enqueue_s` of calls in the middle of others, a row a group of them."""
    trainer.strategy.barrier()
    clock = CudaClock()
    return time_queued(call, clock, hold=hold_back, agree=lambda value: largest_over_ranks(trainer, value))


def _time_calls(trainer: Trainer, call: Callable[[], object]) -> list[float]:
    """Seconds of each call on this rank, on the host's clock; every rank makes the same number of calls."""

    def timed() -> float:
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    trainer.strategy.barrier()
    first = max(timed() for _ in range(WARMUP_CALLS))
    agreed = torch.tensor([first], dtype=torch.float64, device=trainer.place.device)
    slowest = trainer.strategy.all_reduce_max(agreed).item()
    calls = min(MOST_CALLS, max(FEWEST_CALLS, int(SECONDS_PER_SIZE / slowest)))
    return [timed() for _ in range(calls)]


def _call(name: str, count: int, world: int, device: torch.device) -> Callable[[], object]:
    """A collective on a message of `count` float32.

    That is the whole message, as nccl-tests counts it: what a rank holds after an all-gather, before a
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
