"""Two stopwatches with one face: the monotonic clock on a CPU, events on a GPU's stream.

A step is cut at four marks that meet end to end, so its parts add up to it, and the steps of a block add up to
the block. The GPU is waited for at the edges of a block only; inside it the host runs ahead as in real training.
"""

from __future__ import annotations

import itertools
import time
from typing import Protocol

import torch

PARTS = 4  # data, forward, backward, optimizer
Times = list[tuple[float, float, float, float]]


class Clock(Protocol):
    """start, then after each part of each step mark, then stop."""

    def start(self) -> None:
        """Begin a block: wait for the device, then take the first mark."""

    def mark(self) -> None:
        """End of a part of a step."""

    def stop(self) -> Times:
        """End the block: seconds of the four parts of each of its steps."""


class CpuClock:
    """time.perf_counter_ns, whose difference is exact to the nanosecond."""

    def start(self) -> None:
        self._marks = [time.perf_counter_ns()]

    def mark(self) -> None:
        self._marks.append(time.perf_counter_ns())

    def stop(self) -> Times:
        marks = self._marks
        return _by_step([(b - a) * 1e-9 for a, b in itertools.pairwise(marks)])


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

    def stop(self) -> Times:
        torch.cuda.synchronize()
        events = self._events
        return _by_step([a.elapsed_time(b) * 1e-3 for a, b in itertools.pairwise(events)])


def make_clock(device: torch.device) -> Clock:
    """The clock that fits the device."""
    return CudaClock() if device.type == "cuda" else CpuClock()


def _by_step(parts: list[float]) -> Times:
    assert len(parts) % PARTS == 0, "a block ends after a whole step"
    return [tuple(parts[i : i + PARTS]) for i in range(0, len(parts), PARTS)]
