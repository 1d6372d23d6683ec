"""The collectives of a step at the model's own message sizes, on the ranks of the launch, idle.

What the network gives when nothing else is going on: a lower bound on the time of the same message in training.
"""

import time
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from scalestudy.train.loop import Trainer

SMALL_BYTES = (4, 1024, 16 * 1024)  # where latency is all there is
WARMUP_CALLS = 3
MOST_CALLS, FEWEST_CALLS = 30, 5
SECONDS_PER_SIZE = 0.1


def probe_collectives(trainer: Trainer, messages: list[int]) -> None:
    """Record the calls of each collective at each size; `messages`: bytes of the gradient buckets.

    A broadcast only where DDP makes one, of the model's buffers, and at their size.
    """
    world, device = trainer.place.world_size, trainer.place.device
    unit = 4 * world  # a float32 of every rank
    sizes = sorted({max(unit, size // unit * unit) for size in (*SMALL_BYTES, *messages)})
    calls = [(name, size) for name in ("all-reduce", "all-gather", "reduce-scatter") for size in sizes]
    if trainer.buffer_bytes and trainer.spec.strategy == "ddp" and trainer.spec.ddp.broadcast_buffers:
        calls.append(("broadcast", max(4, trainer.buffer_bytes // 4 * 4)))
    for name, size in calls:
        times = _time_calls(trainer, _call(name, size // 4, world, device))
        trainer.recorder.add_rows(
            "collectives",
            [
                {"collective": name, "bytes": size, "call": index, "time_s": time_s}
                for index, time_s in enumerate(times)
            ],
        )


def _time_calls(trainer: Trainer, call: Callable[[], object]) -> list[float]:
    """Seconds of each call on this rank; every rank makes the same number of calls."""
    cuda = trainer.place.device.type == "cuda"

    def timed() -> float:
        begin = time.perf_counter()
        call()
        if cuda:
            torch.cuda.synchronize()
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
        "all-gather": lambda: _gather(whole, mine),
        "reduce-scatter": lambda: _scatter(mine, whole),
        "broadcast": lambda: dist.broadcast(whole, src=0),
    }
    return calls[name]


# torch 2.13 has new names for both and warns of the old ones; older versions have the old ones only.
_gather: Callable[[Tensor, Tensor], None] = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
_scatter: Callable[[Tensor, Tensor], None] = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)
