"""Time marks: times of the host, or events on the current stream of a CUDA device.

No device is waited for: events are recorded while the script runs, and read later, when they have passed.
"""

from __future__ import annotations

import time
from typing import Any

Mark = Any
"""A time of the host's clock in seconds, or a CUDA event."""


class HostClock:
    """Times from time.perf_counter()."""

    now = staticmethod(time.perf_counter)

    def between(self, begin: Mark, end: Mark) -> float:
        """Seconds from one mark to the other."""
        return float(end - begin)

    def has_passed(self, mark: Mark) -> bool:
        """Whether `between` can be used with this mark."""
        return True

    def settle(self) -> None:
        """Wait for all marks, at the very end."""


class DeviceClock:
    """Events of the current stream. torch: the module."""

    def __init__(self, torch: Any) -> None:
        self._cuda = torch.cuda
        self._event = torch.cuda.Event

    def now(self) -> Mark:
        """An event, recorded on the current stream."""
        event = self._event(enable_timing=True)
        event.record()
        return event

    def between(self, begin: Mark, end: Mark) -> float:
        """Seconds on the device from one event to the other; both must have passed."""
        return float(begin.elapsed_time(end)) / 1000

    def has_passed(self, mark: Mark) -> bool:
        """Whether the device has reached this event."""
        return bool(mark.query())

    def settle(self) -> None:
        """Wait for the device."""
        self._cuda.synchronize()
