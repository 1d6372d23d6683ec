"""When each gradient bucket was ready and when reduced, on every rank. This separates waiting from transfer.

A communication hook takes the timestamps. A hook bypasses DDP's built-in path, so its blocks are interleaved with
blocks without synchronisation of their own. Their difference, minus the built-in path's difference, is the
overhead of the timestamps.
"""

# No deferred annotations here: torch inspects the annotations of a hook.
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from scalestudy.train.loop import Trainer
from scalestudy.train.probes.rounds import Kind, run_rounds
from scalestudy.train.step.stamps import Stamps, make_stamps

SETTLE_STEPS = 4  # DDP rebuilds its buckets after the first step


@dataclass
class _Arrivals:
    """Timestamps of the buckets in the steps of a block."""

    stamps: Stamps
    step: int = 0
    rows: list[list[Any]] = field(default_factory=list)
    """Rows of [step within the block, bucket, bytes, ready, done]."""


def probe_arrivals(trainer: Trainer) -> list[int]:
    """Record blocks `probe-arrival` and `probe-arrival-no-sync` and the table of buckets.

    Returns the bytes of each bucket. The model gets a new wrapper, since only one hook can be registered and it
    cannot be removed.
    """
    ddp = trainer.wrap_anew(hooked=False)
    assert isinstance(ddp, DistributedDataParallel)
    arrivals = _Arrivals(make_stamps(trainer.place.device))
    ddp.register_comm_hook(arrivals, _stamped_all_reduce)

    def begin() -> Any:
        arrivals.step, arrivals.rows = 0, []
        arrivals.stamps.begin()
        return torch.enable_grad()

    def next_step() -> None:
        arrivals.step += 1

    def closed(block: int, first: int) -> None:
        seconds = arrivals.stamps.seconds
        trainer.recorder.add_rows(
            "buckets",
            [
                {
                    "block": block,
                    "step": first + step,
                    "bucket": bucket,
                    "bytes": size,
                    "ready_s": seconds(ready),
                    "done_s": seconds(done),
                }
                for step, bucket, size, ready, done in arrivals.rows
            ],
        )

    kinds = [
        Kind("probe-arrival", around=begin, after_step=next_step, closed=closed),
        Kind("probe-arrival-no-sync", around=ddp.no_sync),
    ]
    run_rounds(trainer, kinds, settle=SETTLE_STEPS)
    last_step = arrivals.rows[-1][0]
    return [size for step, _, size, _, _ in arrivals.rows if step == last_step]


def _stamped_all_reduce(arrivals: _Arrivals, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Reduce a bucket to the mean over ranks, as DDP does itself, with a timestamp before and after."""
    buffer = bucket.buffer()
    row = [arrivals.step, bucket.index(), buffer.numel() * buffer.element_size(), arrivals.stamps.now(), None]
    arrivals.rows.append(row)
    buffer.div_(dist.get_world_size())
    work = dist.all_reduce(buffer, async_op=True)

    def done(future: torch.futures.Future[list[torch.Tensor]]) -> torch.Tensor:
        row[4] = arrivals.stamps.now()
        return future.value()[0]

    summed: torch.futures.Future[torch.Tensor] = work.get_future().then(done)
    return summed
