"""Time marks: times of the host, or events on the current stream of a CUDA device.

No device is waited for: events are recorded while the script runs, and read later, when they have passed.
"""

from __future__ import annotations

import time
from collections import deque
from sys import getrefcount
from typing import Any

Mark = Any
"""A time of the host's clock in seconds, or a CUDA event."""
UNUSED = 2
"""References to an event that nothing else has: of a local variable, and of the call that counts them."""
LOOKED_AT = 3
"""Events that are looked at before a new one is created. The first event of a training is kept to its end."""


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
    """Events of the current stream. torch: the module.

    An event to which no step refers any more is recorded again. Creating one calls the driver: on an H200 six new
    events took 126 µs, a part of a step that a short training notices.
    """

    def __init__(self, torch: Any) -> None:
        self._cuda = torch.cuda
        self._event = torch.cuda.Event
        self._made: deque[Any] = deque()

    def now(self) -> Mark:
        """An event, recorded on the current stream."""
        event = self._unused() or self._event(enable_timing=True)
        event.record()
        self._made.append(event)
        return event

    def _unused(self) -> Any:
        """An event that only this clock refers to, or None. The oldest come first, so few have to be looked at."""
        for _ in range(LOOKED_AT):
            try:
                event = self._made.popleft()  # another thread cannot take the same one
            except IndexError:
                return None
            if getrefcount(event) <= UNUSED:
                return event
            self._made.append(event)
        return None

    def between(self, begin: Mark, end: Mark) -> float:
        """Seconds on the device from one event to the other; both must have passed."""
        return float(begin.elapsed_time(end)) / 1000

    def has_passed(self, mark: Mark) -> bool:
        """Whether the device has reached this event."""
        return bool(mark.query())

    def settle(self) -> None:
        """Wait for the device."""
        self._cuda.synchronize()
