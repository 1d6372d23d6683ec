"""A thread that notices when its rank stands still: a collective that another never comes to waits for ever.

It looks at where the main thread is, once a second, and touches nothing that is timed: a thread that works is at
another place each time, or has counted another step, and one that is stuck in a call has not.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType

import torch

LOOK_S = 1.0
# Where a rank is that waits for others: in torch's own code, in a collective or in what holds one.
WAITING_IN = tuple(f"{torch.__path__[0]}/{part}/" for part in ("distributed", "autograd", "cuda"))


class Watchdog:
    """Calls `give_up(where, waiting)` when the main thread has not moved for so many seconds."""

    def __init__(self, limit_s: float, give_up: Callable[[str, bool], None]) -> None:
        self._limit_s, self._give_up = limit_s, give_up
        self.steps: Callable[[], int] = lambda: 0
        """How many steps were made so far: a step may be nothing but one long call, always the same."""
        self._over = threading.Event()
        self._main = threading.main_thread().ident
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """No more looking from here on."""
        self._over.set()

    def _watch(self) -> None:
        period_s = min(LOOK_S, self._limit_s / 10)
        before = None
        since = looked = time.monotonic()
        while not self._over.wait(period_s):
            now = time.monotonic()
            if now - looked > period_s + self._limit_s / 2:
                since = now  # this process itself was stopped; what it was waiting for meanwhile is not known
            looked = now
            # A frame that is kept keeps its variables, and so tensors that the training has let go of.
            place = (position(sys._current_frames()[self._main]), self.steps())
            if place != before:
                before, since = place, time.monotonic()
            elif time.monotonic() - since > self._limit_s:
                innermost = traceback.extract_stack(sys._current_frames()[self._main])[-1]
                where = f"{innermost.name} ({innermost.filename.rsplit('/', 1)[-1]}:{innermost.lineno})"
                self._give_up(where, innermost.filename.startswith(WAITING_IN))
                return


def position(frame: FrameType | None) -> tuple[tuple[int, int], ...]:
    """The calls that a thread is in, and the instruction that each of them is at."""
    calls = []
    while frame is not None:
        calls.append((id(frame), frame.f_lasti))
        frame = frame.f_back
    return tuple(calls)
