"""Whether others had the cores of a rank: how long its thread was ready to run and had none."""

import os
import time
from typing import NamedTuple


class Moment(NamedTuple):
    """Seconds since some moment of the past; only differences mean something."""

    ready_s: float
    """That this thread was ready and had no core, by the kernel's account."""
    own_s: float
    """CPU time of the other threads of this process."""
    wall_s: float


class CoreWait:
    """Of the thread that makes it. Where the kernel keeps no account, nobody is ever seen to have the cores."""

    def __init__(self) -> None:
        try:
            self._schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._schedstat = -1

    def now(self) -> Moment:
        # The kernel's account: ns on a core, ns ready without one, number of turns on a core.
        ready_ns = int(os.pread(self._schedstat, 64, 0).split()[1]) if self._schedstat >= 0 else 0
        return Moment(ready_ns * 1e-9, time.process_time() - time.thread_time(), time.perf_counter())

    def share(self, since: Moment, *, step_s: float) -> float:
        """Of `step_s` seconds of steps since then, the share in which others had the cores, 0 to 1.

        Threads of this process may have had them too: at most for what they ran beyond all cores but one.
        """
        ready_s, own_s, wall_s = (float(now - then) for now, then in zip(self.now(), since, strict=True))
        spare_s = (len(os.sched_getaffinity(0)) - 1) * wall_s
        return min(1.0, max(0.0, ready_s - max(0.0, own_s - spare_s)) / step_s)
