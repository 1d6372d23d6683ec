"""A thread that notices when its rank stands still: a collective that another never comes to waits for ever.

It also notices when the rank gets SIGTERM and does not end. Python runs signal handlers in the main thread, which
a device or a collective may block for ever.

It looks at where the main thread is, once a second, and touches nothing that is timed: a thread that works is at
another place each time, or has counted another step, and one that is stuck in a call has not.

On CUDA the place does not tell a rank that waits from one that hangs: the host runs ahead, and waits for the
device wherever it reads a number from it. There the device is asked (train/place/device_work.py).
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
"""Seconds in which the main thread has to answer SIGTERM: fewer than there are until SIGKILL (launch/ranks.py)."""
# Where a rank is whose host waits for others: in a collective, or for a key of the store.
HOST_WAITS_IN = (
    f"{torch.__path__[0]}/distributed/",
    str(Path(__file__).parents[1] / "probes" / "turns.py"),
)
# Without a device also where torch's own code may hold a collective.
WAITING_IN = (*HOST_WAITS_IN, *(f"{torch.__path__[0]}/{part}/" for part in ("autograd", "cuda")))


class Watchdog:
    """Calls `give_up(where, waiting, told)` when the main thread has not moved for `limit_s` seconds, or for
    ANSWER_S after SIGTERM; `told` is true in the second case."""

    def __init__(self, limit_s: float, give_up: Callable[[str, bool, bool], None]) -> None:
        self.limit_s, self._give_up = limit_s, give_up
        self.steps: Callable[[], int] = lambda: 0
        """How many steps were made so far: a step may be nothing but one long call, always the same."""
        self.busy: Callable[[], bool] | None = None
        """Whether the device has work that it was given and has not done; None where there is no device to ask."""
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
        """Begin to look. To be called by the main thread."""
        signal.set_wakeup_fd(self._of_signals, warn_on_full_buffer=False)
        self._looked = time.monotonic()
        self._thread.start()

    @property
    def stopped_s(self) -> float:
        """Longest time in which this process as a whole stood still (SIGSTOP, a suspended host), s; 0 where it
        never did for half the limit or more, or has made more than a step since: then the others came after it."""
        gap_s = self._gap_s(time.monotonic())  # first: whoever looks meanwhile keeps it before it is over
        return max(gap_s, self._stopped_s if self.steps() <= self._stopped_at + 1 else 0.0)

    def _gap_s(self, now: float) -> float:
        gap_s = now - self._looked
        return gap_s if gap_s > self._period_s + self.limit_s / 2 else 0.0

    def stop(self) -> None:
        """No more looking from here on."""
        self._over.set()
        signal.set_wakeup_fd(-1)

    def _told(self, now: float) -> float | None:
        """When the rank was told to end; None where it was not."""
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
                since = now  # what it was waiting for while it was stopped is not known
            self._looked = now
            # A frame that is kept keeps its variables, and so tensors that the training has let go of.
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
    """Whether a rank that stands still waits for others, rather than being what they wait for.

    filename: of the Python frame that its main thread is in. busy: whether its device has work left, None without
    a device. A device that is busy is in a collective that has no end, wherever the host is. One that is idle was
    given no collective: then only a host that waits by itself waits for others.
    """
    if busy is None:
        return filename.startswith(WAITING_IN)
    return busy or filename.startswith(HOST_WAITS_IN)


def position(frame: FrameType | None) -> tuple[tuple[int, int], ...]:
    """The calls that a thread is in, and the instruction that each of them is at."""
    calls = []
    while frame is not None:
        calls.append((id(frame), frame.f_lasti))
        frame = frame.f_back
    return tuple(calls)
