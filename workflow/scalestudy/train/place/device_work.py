"""Whether a device still has work to do. It tells a rank that waits for others from the one they wait for."""

import threading
from collections.abc import Callable
from typing import Protocol

import torch

ANSWER_S = 5.0
"""Seconds in which the driver has to say whether a stream is done. It answers at once, but for when another call
holds its lock, which waits for work on the device in its turn."""


class Stream(Protocol):
    """What is asked of a stream: torch.cuda.Stream has it."""

    def query(self) -> bool:
        """Whether all of its work is done."""


def asks_stream(device: torch.device) -> Callable[[], bool] | None:
    """What says whether the current stream of this thread has work left; None on a CPU.

    To be called by the thread that trains: each thread has a current stream of its own. A collective of NCCL runs
    on another stream, which the current one waits for, so the current one is busy as long as it lasts.
    """
    if device.type != "cuda":
        return None
    stream = torch.cuda.current_stream(device)
    return lambda: is_busy(stream)


def is_busy(stream: Stream, *, answer_s: float = ANSWER_S) -> bool:
    """Whether the stream has work left. A query that is not answered in `answer_s` seconds says that it has.

    A query that fails counts as "no work left": the error is this rank's own, and the other ranks wait for it.
    """
    done: list[bool] = []

    def ask() -> None:
        try:
            done.append(stream.query())
        except RuntimeError:  # as torch raises errors of CUDA
            done.append(True)

    asking = threading.Thread(target=ask, name="stream query", daemon=True)
    asking.start()
    asking.join(answer_s)
    return not done or not done[0]
