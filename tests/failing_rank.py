"""A rank with a fault of demo/failing.py, over gloo or over a backend that is as strict as NCCL.

It is started instead of `scalestudy.train`, with the same arguments. FAILS sets the fault of the last rank,
BACKEND the backend of all ranks.
"""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pynvml
import strict_backend
import torch.distributed as dist
from nvml import Board, FakeNvml
from scalestudy.demo.failing import FAILS, FAULTS, fail_as_asked, is_last, raise_
from scalestudy.record.host.sensors import Sensors
from scalestudy.train import gauges, rank
from scalestudy.train.__main__ import run
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Grouped

BACKEND = "TEST_BACKEND"


def never_end_the_group() -> None:
    """Block like NCCL when another rank is in a kernel or gone."""

    def close(_: Grouped) -> None:
        time.sleep(3600)

    Grouped.close = close


def lose_the_gpu() -> None:
    """Let the last rank fail as with NCCL when the rank's own GPU has fallen off the bus and NVML reports this."""
    answers = {"nvmlDeviceGetTemperature": pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)}
    error = dist.DistBackendError(
        "NCCL error in: ProcessGroupNCCL.cpp:3699, unhandled cuda error, NCCL version 2.27.5\n"
        "Last error:\nCuda failure 999 'unknown error'"
    )
    FAULTS["lost device"] = raise_(error)
    if is_last():
        gauges.Sensors = lambda *_, **__: Sensors(0, nvml=FakeNvml(Board("GPU-0", answers=answers)))


def talk_over(backend: str) -> None:
    place_rank = rank.place_rank

    def place(*arguments: Any) -> Placement:
        return replace(place_rank(*arguments), backend=backend)

    rank.place_rank = place


if __name__ == "__main__":
    strict_backend.register()
    talk_over(os.environ[BACKEND])
    if os.environ[FAILS] == "lingering":
        os.environ[FAILS] = "nothing"
        never_end_the_group()
    if os.environ[FAILS] == "lost device":
        lose_the_gpu()
    fail_as_asked()
    with strict_backend.HANDED_OUT if os.environ[BACKEND] == strict_backend.NAME else nullcontext():
        run()
