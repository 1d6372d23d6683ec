"""Events of the hooks that have not been read yet.

A step passes six hooks, each in the middle of work that has filled the processor's caches with its own data. Code
that runs there is slow: the state machine (steps.py) takes 5 us per step by itself, and ten times as long if the
hooks of a 1 ms step run it. So the hooks only note what happened and when, and many events are read together.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from .pace import Pace

READ_FIRST_S = 0.01
READ_EVERY_S = 0.1
"""Seconds until the events are read, at first and later. Short, so that no step reads events of many others."""
LATE_S = 1.0
"""Seconds of delay after which the events are read at any hook."""


class Journal:
    """The journal of one process. An event is three values in a flat list: (a method of Steps, mark, arguments).

    The hooks add events with `events.extend(...)`, so the list must stay the same object.
    """

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.now: Any = time.perf_counter
        """The clock of the steps; returns a mark."""
        self.read_at = 0.0
        """Time of time.perf_counter() from which on the hook before an update reads the journal. Reading there
        does not disturb a wait for a batch, and is within a step for any clock that the script may use."""
        self.at_once = True
        """Whether events are read as soon as they are noted: in the first step, after which facts about it are
        read from torch, and near the last step, on which the ranks must agree."""
        self.is_current = False
        """Whether all events from before the last call of `read_at_once` are read."""
        self._pace = Pace(READ_FIRST_S, READ_EVERY_S)

    def begin_again(self) -> None:
        """Start again in a forked child."""
        self.events.clear()
        self.now, self.read_at, self.at_once = time.perf_counter, 0.0, True
        self.is_current, self._pace = False, Pace(READ_FIRST_S, READ_EVERY_S)

    @property
    def last(self) -> str:
        """The last event that is not read yet; empty if there is none."""
        return self.events[-3] if self.events else ""

    def read_at_once(self) -> None:
        """Read events at once from here on. May be called from any thread."""
        self.is_current = False
        self.at_once, self.read_at = True, 0.0

    def take(self) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        """Remove and return the events so far. Other threads may add events meanwhile."""
        at_once = self.at_once
        taken = self.events[:]
        del self.events[: len(taken)]
        self.read_at = 0.0 if self.at_once else time.perf_counter() + self._pace.next_s()
        return self._each(taken, at_once)

    def _each(self, taken: list[Any], at_once: bool) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        values = iter(taken)
        yield from zip(values, values, values)
        self.is_current = at_once
