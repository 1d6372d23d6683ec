"""Two clocks with one interface: the monotonic clock on a CPU, events on the stream of a GPU.

Marks divide a step without gaps, so its parts add up to the step, and the steps of a block add up to the block.
The host waits for the GPU only before and after a block; within it the host runs ahead as in real training.
"""

import itertools
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch


class ClockError(RuntimeError):
    """A clock ran backwards, so its times are not reliable."""


class Clock(Protocol):
    """Call `settle`, then collect marks from `now` in a list, then pass the list to `between`."""

    host_runs_ahead: bool
    """Whether marks are events of a device that the host runs ahead of."""
    queued_s: list[float]
    """The host's times of the marks since `settle`, if the host runs ahead."""

    @property
    def now(self) -> Callable[[], Any]:
        """A function that returns a mark. The caller collects the marks, so that a mark needs no Python call.

        A step has six marks, and may take only a millisecond.
        """

    def settle(self) -> None:
        """Wait until the device has completed its work."""

    def between(self, marks: list[Any]) -> np.ndarray:
        """Return the seconds between the marks, in order, as one row, after waiting for the device.

        The marks must not be used afterwards. Raises ClockError if a difference is negative.
        """


class CpuClock:
    """time.perf_counter_ns, whose differences are exact to the nanosecond."""

    host_runs_ahead = False
    now = staticmethod(time.perf_counter_ns)

    def __init__(self) -> None:
        self.queued_s: list[float] = []

    def settle(self) -> None:
        pass

    def between(self, marks: list[int]) -> np.ndarray:
        at = np.array(marks, dtype=np.int64)
        return _forwards((at[1:] - at[:-1]) * 1e-9)


class CudaClock:
    """CUDA events on the current stream, which are read after the block and then reused.

    Creating an event calls the driver within the timed step. After the first block there are enough events for the
    next blocks.
    """

    def __init__(self) -> None:
        self._unused: list[torch.cuda.Event] = []
        self.queued_s: list[float] = []

    host_runs_ahead = True

    def now(self) -> torch.cuda.Event:
        event = self._unused.pop() if self._unused else torch.cuda.Event(enable_timing=True)
        event.record()
        self.queued_s.append(time.perf_counter())
        return event

    def settle(self) -> None:
        torch.cuda.synchronize()
        self.queued_s.clear()

    def between(self, marks: list[torch.cuda.Event]) -> np.ndarray:
        torch.cuda.synchronize()
        parts = np.array([a.elapsed_time(b) for a, b in itertools.pairwise(marks)]) * 1e-3
        self._unused += marks
        return _forwards(parts)


def make_clock(device: torch.device) -> Clock:
    """Return the clock for the device."""
    return CudaClock() if device.type == "cuda" else CpuClock()


def _forwards(parts: np.ndarray) -> np.ndarray:
    if parts.min() < 0:
        raise ClockError(f"the clock went backwards by {-parts.min():.3g} s between two marks of a step")
    return parts
