"""`python -m scalestudy.demo.rank`: a rank with a fault that no setting can cause.

Started instead of scalestudy.train, with the same arguments; everything except the fault is unchanged.
"""

# No deferred annotations here: torch inspects the annotations of a hook.
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

import torch
import torch.distributed as dist
from torch import Tensor, nn

from scalestudy.demo.faults import ALL, FAULT
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import Model
from scalestudy.train import loop, rank
from scalestudy.train.__main__ import run
from scalestudy.train.acceptance.rank import replace
from scalestudy.train.data.feed import Feed, make_feed
from scalestudy.train.probes import run_probes
from scalestudy.train.strategies import base, ddp
from scalestudy.train.workloads import build_model

SLEEP_S = 0.03
KEPT_BYTES = 400_000
MASK_BYTES = 8 * 2**20
RING_VOLUME = 1.0  # bytes that each of two ranks sends per byte of an all-reduce


def is_last_rank() -> bool:
    """Whether this is the last of several ranks."""
    return int(os.environ.get("RANK", -1)) + 1 == int(os.environ.get("WORLD_SIZE", -1))


class OnDisk:
    """Standard output that is synced to disk before `print` returns, as on a remote file system."""

    def __init__(self, shown: TextIO) -> None:
        self._shown, self._file = shown, tempfile.TemporaryFile("w")  # noqa: SIM115  (as long as the process)

    def write(self, text: str) -> int:
        self._file.write(text)
        return self._shown.write(text)

    def flush(self) -> None:
        self._shown.flush()
        self._file.flush()
        os.fsync(self._file.fileno())
        time.sleep(0.002)  # network round trip


def slow_log() -> None:
    """Make every printed line wait until it is written."""
    sys.stdout = OnDisk(sys.stdout)


def change_model(change: Callable[[nn.Module], object]) -> None:
    """Change the model as soon as it is built."""

    def build_changed(config: Model, data: Data) -> nn.Module:
        model = build_model(config, data)
        change(model)
        return model

    replace(base, "build_model", build_changed)


def slow_rank() -> None:
    """Make the last of several ranks sleep at the start of its backward pass, so that its gradients are late."""

    def sleep_first(model: nn.Module) -> None:
        list(model.children())[-1].register_full_backward_hook(lambda *_: time.sleep(SLEEP_S))

    if is_last_rank():
        change_model(sleep_first)


def leak() -> None:
    """Make every forward pass keep a tensor permanently."""
    kept: list[Tensor] = []

    def keep(model: nn.Module, *_: object) -> None:
        if model.training:
            kept.append(torch.ones(KEPT_BYTES // 4))

    change_model(lambda model: model.register_forward_hook(keep))


def large_buffers() -> None:
    """Add a mask to the model's buffers, as Transformers in many libraries have."""
    change_model(lambda model: model.register_buffer("mask", torch.ones(MASK_BYTES // 4)))


def uneven_batches() -> None:
    """Make the last of several ranks read 1.5 times as many samples, as with a sampler that splits by files."""

    def make_uneven(*arguments: Any) -> Feed:
        feed = make_feed(*arguments)
        read = feed.read
        replace(feed, "read", lambda index: read(torch.cat([index, index[: len(index) // 2]])))
        return feed

    if is_last_rank():
        replace(loop, "make_feed", make_uneven)


def slow_link() -> None:
    """Make all-reduces take as long as over a single link for all ranks with the rate of the fault.

    For hosts on which a real link cannot be throttled. A communication hook waits. So the probes leave out the
    bucket timestamps, which need a hook of their own, and DDP's logger, which does not support hooks.
    """
    rate, wire = ALL["slow-link"].link_bytes_per_s, threading.Lock()
    reduce, wrap = dist.all_reduce, ddp.wrap_ddp

    def pass_wire(tensor: Tensor) -> None:
        sent = dist.get_world_size() * RING_VOLUME * tensor.nbytes
        with wire:
            time.sleep(sent / rate)

    def reduce_slowly(tensor: Tensor, *arguments: Any, **options: Any) -> Any:
        work = reduce(tensor, *arguments, **options)
        pass_wire(tensor)
        return work

    def hook(_state: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
        gradients = bucket.buffer().div_(dist.get_world_size())

        def arrive(done: torch.futures.Future[list[Tensor]]) -> Tensor:
            pass_wire(gradients)
            return done.value()[0]

        arrived: torch.futures.Future[Tensor] = reduce(gradients, async_op=True).get_future().then(arrive)
        return arrived

    def wrap_hooked(*arguments: Any, **options: Any) -> nn.Module:
        wrapped = wrap(*arguments, **options)
        wrapped.register_comm_hook(None, hook)
        return wrapped

    def probe_hooked(trainer: loop.Trainer) -> dict[str, str | None]:
        options = trainer.spec.ddp.model_copy(update={"communication_hook": "slow-link"})
        trainer.spec = trainer.spec.model_copy(update={"ddp": options})
        return run_probes(trainer)

    replace(dist, "all_reduce", reduce_slowly)
    replace(ddp, "wrap_ddp", wrap_hooked)
    replace(rank, "run_probes", probe_hooked)


INJECTIONS = {
    "slow-link": slow_link,
    "slow-log": slow_log,
    "slow-rank": slow_rank,
    "leak": leak,
    "large-buffers": large_buffers,
    "uneven-batches": uneven_batches,
}

if __name__ == "__main__":
    INJECTIONS[os.environ[FAULT]]()
    run()
