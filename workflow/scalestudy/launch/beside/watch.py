"""Watches the host during a run, and reports the load from others while the run was measured.

The launcher reads the kernel's counters between its other checks of the ranks; the ranks read nothing for this.
The processor time of the run's own processes is subtracted; the rest was used by others.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scalestudy.launch.beside.own import OwnProcesses
from scalestudy.record.host.counters import Counters, read_counters

EVERY_S = 0.25
MOST_COST = 0.005
"""Largest share of a core that is used for watching. Where a reading takes long, because the host has many
processes, readings are less frequent."""
SLEW = 0.001
"""A clock that is corrected gradually may run this share faster or slower; a larger deviation is a jump."""


@dataclass(frozen=True)
class Sample:
    """The counters, the run's own processor time, and the foreign processes on its GPUs, at one moment."""

    host: Counters
    own_s: float
    gpu_others: int = 0


class Watch:
    """Collects samples. `check` may be called at any rate.

    cpus: CPUs that the ranks may run on. gpu_others: from the ids of the run's own processes to the number of
    foreign processes on its GPUs; None without GPUs.
    """

    def __init__(
        self,
        cpus: Sequence[int],
        own: OwnProcesses,
        *,
        gpu_others: Callable[[set[int]], int] | None = None,
    ) -> None:
        self.cpus, self._own, self._gpu_others = tuple(cpus), own, gpu_others
        self._next_s = 0.0
        self.samples: list[Sample] = []

    def check(self) -> None:
        """Take a sample if the next one is due."""
        if (now := time.monotonic()) >= self._next_s:
            begin = time.process_time()
            self.take()
            self._next_s = now + max(EVERY_S, (time.process_time() - begin) / MOST_COST)

    def take(self) -> None:
        """Take a sample now."""
        others = self._gpu_others(self._own.pids()) if self._gpu_others else 0
        self.samples.append(Sample(read_counters(self.cpus), self._own.cpu_s(), others))


def between(samples: Sequence[Sample], begin_s: float, end_s: float, *, wall: bool = False) -> Sequence[Sample]:
    """The samples from the last one before `begin_s` to the first one after `end_s`, as far as they exist.

    Times are of CLOCK_MONOTONIC; with `wall` they are of the wall clock, for samples of another host.
    """
    at = [one.host.wall_s if wall else one.host.at_s for one in samples]
    first = max((index for index, moment in enumerate(at) if moment <= begin_s), default=0)
    last = next((index for index, moment in enumerate(at) if moment >= end_s), len(samples) - 1)
    return samples[first : last + 1]


def reading(samples: Sequence[Sample], *, cpus: int) -> dict[str, Any] | None:
    """The load of the host between the first and the last of these samples; None for fewer than two samples.

    `others_cores` is the processor time of others on the ranks' CPUs, divided by the elapsed time. Interrupts
    are left out, since the ranks' own messages cause them. Shares are shares of the elapsed time.
    """
    if len(samples) < 2 or (span_s := samples[-1].host.at_s - samples[0].host.at_s) <= 0:
        return None
    first, last = samples[0].host, samples[-1].host
    own_s = samples[-1].own_s - samples[0].own_s
    return {
        "span_s": round(span_s, 3),
        "cpus": cpus,
        "own_cores": round(own_s / span_s, 4),
        "others_cores": round(max(0.0, last.busy_s - first.busy_s - own_s) / span_s, 4),
        "stolen_share": round((last.stolen_s - first.stolen_s) / span_s / max(1, cpus), 5),
        "swapped_mib": round(last.swapped_mib - first.swapped_mib, 3),
        "memory_stall_share": round((last.memory_stall_s - first.memory_stall_s) / span_s, 5),
        "throttled_share": round((last.throttled_s - first.throttled_s) / span_s, 5),
        "clock_jump_s": round(max(_jump_s(*pair) for pair in pairwise(one.host for one in samples)), 3),
        "gpu_others": max(one.gpu_others for one in samples),
    }


def _jump_s(before: Counters, after: Counters) -> float:
    """Seconds by which the change of the wall clock differs from the elapsed time, beyond a gradual correction."""
    passed_s = after.at_s - before.at_s
    return max(0.0, abs(after.wall_s - before.wall_s - passed_s) - SLEW * passed_s)
