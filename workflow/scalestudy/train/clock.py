"""Two stopwatches with one face: the monotonic clock on a CPU, events on a GPU's stream.

A step is cut at marks that meet end to end, so its parts add up to it, and the steps of a block add up to the
block. The GPU is waited for at the edges of a block only; inside it the host runs ahead as in real training.
"""

from __future__ import annotations

import itertools
import time
from typing import Protocol

import numpy as np
import torch


class ClockError(RuntimeError):
    """A clock ran backwards: nothing that was timed by it can be believed."""


class Clock(Protocol):
    """start, then after each part of each step mark, then stop."""

    def start(self) -> None:
        """Begin a block: wait for the device, then take the first mark."""

    def mark(self) -> None:
        """End of a part of a step."""

    def stop(self) -> np.ndarray:
        """End the block: seconds between the marks, in order, as one row.

        Raises ClockError where one is negative.
        """


class CpuClock:
    """time.perf_counter_ns, whose difference is exact to the nanosecond."""

    def start(self) -> None:
        self._marks: list[int] = []
        append, now = self._marks.append, time.perf_counter_ns
        # Bound once a block: a mark is taken eight times a step, and a step may be a millisecond.
        self.mark = lambda: append(now())
        self.mark()

    def mark(self) -> None:
        raise AssertionError("marks are taken between start and stop")

    def stop(self) -> np.ndarray:
        marks = np.array(self._marks, dtype=np.int64)
        return _forwards((marks[1:] - marks[:-1]) * 1e-9)


class CudaClock:
    """CUDA events on the current stream; read when the block is over."""

    def start(self) -> None:
        torch.cuda.synchronize()
        self._events: list[torch.cuda.Event] = []
        self.mark()

    def mark(self) -> None:
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self._events.append(event)

    def stop(self) -> np.ndarray:
        torch.cuda.synchronize()
        events = self._events
        return _forwards(np.array([a.elapsed_time(b) for a, b in itertools.pairwise(events)]) * 1e-3)


def make_clock(device: torch.device) -> Clock:
    """The clock that fits the device."""
    return CudaClock() if device.type == "cuda" else CpuClock()


def _forwards(parts: np.ndarray) -> np.ndarray:
    if parts.min() < 0:
        raise ClockError(f"the clock went backwards by {-parts.min():.3g} s between two marks of a step")
    return parts
