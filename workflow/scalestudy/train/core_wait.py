"""Whether other processes used the cores of a rank: how long its thread was ready to run but had no core."""

import os
import time
from typing import NamedTuple


class Moment(NamedTuple):
    """Seconds since arbitrary moments; only differences are meaningful."""

    ready_s: float
    """Time that this thread was ready but had no core, as counted by the kernel."""
    own_s: float
    """CPU time of the other threads of this process."""
    wall_s: float


class CoreWait:
    """The waiting time of the thread that creates it; always 0 if the kernel does not count it."""

    def __init__(self) -> None:
        try:
            self._schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._schedstat = -1

    def now(self) -> Moment:
        # The kernel's counters: ns on a core, ns ready without a core, number of timeslices.
        ready_ns = int(os.pread(self._schedstat, 64, 0).split()[1]) if self._schedstat >= 0 else 0
        return Moment(ready_ns * 1e-9, time.process_time() - time.thread_time(), time.perf_counter())

    def share(self, since: Moment, *, step_s: float) -> float:
        """Return the share of `step_s` seconds of steps in which other processes used the cores, 0 to 1.

        since: the moment at which the steps began. Threads of this process may also have used the cores. What they
        ran beyond the capacity of all cores but one is subtracted.
        """
        ready_s, own_s, wall_s = (float(now - then) for now, then in zip(self.now(), since, strict=True))
        spare_s = (len(os.sched_getaffinity(0)) - 1) * wall_s
        return min(1.0, max(0.0, ready_s - max(0.0, own_s - spare_s)) / step_s)
