"""Whether a device still has work to do. This distinguishes a rank that waits from the rank it waits for."""

import threading
from collections.abc import Callable
from typing import Protocol

import torch

ANSWER_S = 5.0
"""Most seconds that the driver may take to report whether a stream is done. It answers at once, unless another
call holds its lock, and that call itself waits for work on the device."""


class Stream(Protocol):
    """The part of torch.cuda.Stream that is used here."""

    def query(self) -> bool:
        """Return whether all work of the stream is done."""


def asks_stream(device: torch.device) -> Callable[[], bool] | None:
    """Return a function that queries whether the current stream of this thread has work left; None on a CPU.

    Call this in the training thread: each thread has its own current stream. An NCCL collective runs on another
    stream, but the current stream waits for it, and so is busy until it completes.
    """
    if device.type != "cuda":
        return None
    stream = torch.cuda.current_stream(device)
    return lambda: is_busy(stream)


def is_busy(stream: Stream, *, answer_s: float = ANSWER_S) -> bool:
    """Return whether the stream has work left. A query that takes longer than `answer_s` seconds counts as yes.

    A query that fails counts as no: the error is this rank's own, and the other ranks wait for it.
    """
    done: list[bool] = []

    def ask() -> None:
        try:
            done.append(stream.query())
        except RuntimeError:  # torch raises CUDA errors as RuntimeError
            done.append(True)

    asking = threading.Thread(target=ask, name="stream query", daemon=True)
    asking.start()
    asking.join(answer_s)
    return not done or not done[0]
