"""Two stopwatches with one face: the monotonic clock on a CPU, events on a GPU's stream.

A step is cut at marks that meet end to end, so its parts add up to it, and the steps of a block add up to the
block. The GPU is waited for at the edges of a block only; inside it the host runs ahead as in real training.
"""

import itertools
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch


class ClockError(RuntimeError):
    """A clock ran backwards: nothing that was timed by it can be believed."""


class Clock(Protocol):
    """`settle`, then a list of what `now` gives, then `between` of that list."""

    host_runs_ahead: bool
    """Whether marks are of a device that the host runs ahead of."""

    @property
    def now(self) -> Callable[[], Any]:
        """Gives a mark. Whoever times collects them, so that no Python is called for one: a step has six of them,
        and may be a millisecond."""

    def settle(self) -> None:
        """Wait until the device has done what it was given."""

    def between(self, marks: list[Any]) -> np.ndarray:
        """Seconds between the marks, in order, as one row; waits for the device. The marks are of no use after it.

        Raises ClockError where one is negative.
        """


class CpuClock:
    """time.perf_counter_ns, whose difference is exact to the nanosecond."""

    host_runs_ahead = False
    now = staticmethod(time.perf_counter_ns)

    def settle(self) -> None:
        pass

    def between(self, marks: list[int]) -> np.ndarray:
        at = np.array(marks, dtype=np.int64)
        return _forwards((at[1:] - at[:-1]) * 1e-9)


class CudaClock:
    """CUDA events on the current stream; read when the block is over, and then used again.

    To make an event takes a call of the driver, within the step that is timed. After the first block there are
    enough for the next.
    """

    def __init__(self) -> None:
        self._unused: list[torch.cuda.Event] = []

    host_runs_ahead = True

    def now(self) -> torch.cuda.Event:
        event = self._unused.pop() if self._unused else torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def settle(self) -> None:
        torch.cuda.synchronize()

    def between(self, marks: list[torch.cuda.Event]) -> np.ndarray:
        torch.cuda.synchronize()
        parts = np.array([a.elapsed_time(b) for a, b in itertools.pairwise(marks)]) * 1e-3
        self._unused += marks
        return _forwards(parts)


def make_clock(device: torch.device) -> Clock:
    """The clock that fits the device."""
    return CudaClock() if device.type == "cuda" else CpuClock()


def _forwards(parts: np.ndarray) -> np.ndarray:
    if parts.min() < 0:
        raise ClockError(f"the clock went backwards by {-parts.min():.3g} s between two marks of a step")
    return parts
