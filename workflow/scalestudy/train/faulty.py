"""`python -m scalestudy.train.faulty`: a rank with something wrong in it that no setting can do.

Started in the place of scalestudy.train, with the same arguments; everything but the fault is ours.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any, TextIO

import torch
from torch import nn

from scalestudy.study.faults import FAULT
from scalestudy.train import loop
from scalestudy.train.__main__ import main

SLEEP_S = 0.03
KEPT_BYTES = 400_000
MASK_BYTES = 8 * 2**20


def is_last_rank() -> bool:
    """Whether this is the last of several ranks."""
    return int(os.environ.get("RANK", -1)) + 1 == int(os.environ.get("WORLD_SIZE", -1))


class OnDisk:
    """Standard output that is on disk before `print` returns, as on a file system that is far away."""

    def __init__(self, shown: TextIO) -> None:
        self._shown, self._file = shown, tempfile.TemporaryFile("w")  # noqa: SIM115  (as long as the process)

    def write(self, text: str) -> int:
        self._file.write(text)
        return self._shown.write(text)

    def flush(self) -> None:
        self._shown.flush()
        self._file.flush()
        os.fsync(self._file.fileno())
        time.sleep(0.002)  # the way there and back


def slow_log() -> None:
    """Every line that is printed waits until it is written."""
    sys.stdout = OnDisk(sys.stdout)


def slow_rank() -> None:
    """The last of several ranks sleeps as its backward pass begins, so that all of its gradients are late."""
    if not is_last_rank():
        return
    build = loop.build_model

    def build_slow(config: Any, data: Any) -> nn.Module:
        model = build(config, data)
        list(model.children())[-1].register_full_backward_hook(lambda *_: time.sleep(SLEEP_S))
        return model

    loop.build_model = build_slow


def leak() -> None:
    """Every forward pass keeps a tensor for ever."""
    build, kept = loop.build_model, []

    def build_leaking(config: Any, data: Any) -> nn.Module:
        model = build(config, data)
        model.register_forward_hook(
            lambda *_: kept.append(torch.ones(KEPT_BYTES // 4)) if model.training else None
        )
        return model

    loop.build_model = build_leaking


def large_buffers() -> None:
    """The model has a mask among its buffers, as Transformers of many libraries have."""
    build = loop.build_model

    def build_masked(config: Any, data: Any) -> nn.Module:
        model = build(config, data)
        model.register_buffer("mask", torch.ones(MASK_BYTES // 4))
        return model

    loop.build_model = build_masked


def uneven_batches() -> None:
    """The last of several ranks reads half as many samples again, as where a sampler splits by files."""
    if not is_last_rank():
        return
    make = loop.make_feed

    def make_uneven(*arguments: Any) -> Any:
        feed = make(*arguments)
        read = feed.read
        feed.read = lambda index: read(torch.cat([index, index[: len(index) // 2]]))
        return feed

    loop.make_feed = make_uneven


INJECTIONS = {
    "slow-log": slow_log,
    "slow-rank": slow_rank,
    "leak": leak,
    "large-buffers": large_buffers,
    "uneven-batches": uneven_batches,
}

if __name__ == "__main__":
    INJECTIONS[os.environ[FAULT]]()
    sys.exit(main())
