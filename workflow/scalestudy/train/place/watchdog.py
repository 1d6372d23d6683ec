"""A thread that detects when its rank hangs: a collective in which a rank is missing blocks forever.

It also detects when the rank does not end after SIGTERM. Python runs signal handlers in the main thread, which a
device or a collective may block forever.

Once a second it checks the position of the main thread, without touching anything that is timed. A thread that
works is at another position each time, or has counted another step; a thread that is stuck in a call is not.

On CUDA the position does not distinguish a rank that waits from one that hangs: the host runs ahead, and waits for
the device wherever it reads a number from it. There the device is queried (train/place/device_work.py).
"""

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch

LOOK_S = 1.0
ANSWER_S = 10.0
"""Seconds in which the main thread must react to SIGTERM; SIGKILL follows later (launch/ranks.py)."""
# Files in which a host waits for other ranks: in a collective, or for a key of the store.
HOST_WAITS_IN = (
    f"{torch.__path__[0]}/distributed/",
    str(Path(__file__).parents[1] / "probes" / "turns.py"),
)
# Without a device, also parts of torch that may run a collective.
WAITING_IN = (*HOST_WAITS_IN, *(f"{torch.__path__[0]}/{part}/" for part in ("autograd", "cuda")))


class Watchdog:
    """Calls `give_up(where, waiting, told)` when the main thread makes no progress for `limit_s` seconds, or for
    ANSWER_S seconds after SIGTERM; `told` is true in the second case."""

    def __init__(self, limit_s: float, give_up: Callable[[str, bool, bool], None]) -> None:
        self.limit_s, self._give_up = limit_s, give_up
        self.steps: Callable[[], int] = lambda: 0
        """Returns the number of steps so far: a step may be a single long call, always at the same position."""
        self.busy: Callable[[], bool] | None = None
        """Returns whether the device has unfinished work; None without a device."""
        self._over = threading.Event()
        main = threading.main_thread().ident
        assert main is not None, "it has been started"
        self._main = main
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._period_s = min(LOOK_S, limit_s / 10)
        self._looked = time.monotonic()
        self._stopped_s, self._stopped_at = 0.0, 0
        self._signals, self._of_signals = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._told_at: float | None = None

    def start(self) -> None:
        """Begin to check. Call this in the main thread."""
        signal.set_wakeup_fd(self._of_signals, warn_on_full_buffer=False)
        self._looked = time.monotonic()
        self._thread.start()

    @property
    def stopped_s(self) -> float:
        """The longest time in s for which this whole process was stopped (SIGSTOP, a suspended host).

        It is 0 if no stop took half the limit or more, or if the rank has made more than one step since: then the
        others have caught up with it.
        """
        gap_s = self._gap_s(time.monotonic())  # first: the watching thread stores a gap before it resets it
        return max(gap_s, self._stopped_s if self.steps() <= self._stopped_at + 1 else 0.0)

    def _gap_s(self, now: float) -> float:
        gap_s = now - self._looked
        return gap_s if gap_s > self._period_s + self.limit_s / 2 else 0.0

    def stop(self) -> None:
        """Stop checking."""
        self._over.set()
        signal.set_wakeup_fd(-1)

    def _told(self, now: float) -> float | None:
        """Return when the rank got SIGTERM; None if it did not."""
        with contextlib.suppress(BlockingIOError):
            if self._told_at is None and signal.SIGTERM in os.read(self._signals, 4096):
                self._told_at = now
        return self._told_at

    def _watch(self) -> None:
        before, since = None, time.monotonic()
        while not self._over.wait(self._period_s):
            now = time.monotonic()
            if gap_s := self._gap_s(now):
                self._stopped_s, self._stopped_at = max(self.stopped_s, gap_s), self.steps()
                since = now  # it is not known what it was waiting for while it was stopped
            self._looked = now
            # The frame is not stored: it would keep its variables alive, such as tensors that training has freed.
            place, told_at = (position(sys._current_frames()[self._main]), self.steps()), self._told(now)
            silent = told_at is not None and now - max(since, told_at) > ANSWER_S
            if place != before:
                before, since = place, now
            elif silent or now - since > self.limit_s:
                innermost = traceback.extract_stack(sys._current_frames()[self._main])[-1]
                where = f"{innermost.name} ({innermost.filename.rsplit('/', 1)[-1]}:{innermost.lineno})"
                busy = None if self.busy is None else self.busy()
                if busy is not None:
                    where += ", with a busy device" if busy else ", with an idle device"
                self._give_up(where, waits(innermost.filename, busy), silent)
                return


def waits(filename: str, busy: bool | None) -> bool:
    """Return whether a rank without progress waits for other ranks, rather than being the one they wait for.

    filename: file of the Python frame that its main thread is in. busy: whether its device has work left; None
    without a device. A busy device is in a collective that does not end, wherever the host is. An idle device has
    no collective queued: then the rank waits for others only if the host itself does.
    """
    if busy is None:
        return filename.startswith(WAITING_IN)
    return busy or filename.startswith(HOST_WAITS_IN)


def position(frame: FrameType | None) -> tuple[tuple[int, int], ...]:
    """Return the call stack of a thread, with the current instruction of each call."""
    calls = []
    while frame is not None:
        calls.append((id(frame), frame.f_lasti))
        frame = frame.f_back
    return tuple(calls)
