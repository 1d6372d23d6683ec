"""What the hooks saw and nothing has been made of yet.

A step passes six hooks, each in the middle of work that has filled the processor's caches with its own data. Code
that runs there is slow: the state machine (steps.py) takes 5 us a step by itself, and ten times as long where the
hooks of a step of a millisecond run it. So they only note what happened and when, and it is read in one go.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from .pace import Pace

READ_FIRST_S = 0.01
READ_EVERY_S = 0.1
"""Seconds until what was noted is read, at first and in the long run: short, so that no step pays for many."""
LATE_S = 1.0
"""Seconds after which it is read wherever the script is."""


class Journal:
    """Of one process. An event is three values in a flat list: (a method of Steps, mark, arguments).

    The hooks of every step add theirs with `events.extend(...)`: the list stays the same object.
    """

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.now: Any = time.perf_counter
        """Of the clock of the steps: gives a mark."""
        self.read_at = 0.0
        """On time.perf_counter(): from then on the hook before an update reads the journal. There it disturbs no
        wait for a batch, and is within a step for each clock that the script may have."""
        self.at_once = True
        """Whether events are read as soon as they are noted: in the first step, after which torch is asked what
        happened in it, and near the last one, on which ranks have to agree."""
        self.is_current = False
        """Whether all was read that had been noted before it was asked to read at once."""
        self._pace = Pace(READ_FIRST_S, READ_EVERY_S)

    def begin_again(self) -> None:
        """In a forked child, which is a process of its own."""
        self.events.clear()
        self.now, self.read_at, self.at_once = time.perf_counter, 0.0, True
        self.is_current, self._pace = False, Pace(READ_FIRST_S, READ_EVERY_S)

    @property
    def last(self) -> str:
        """What happened last, of what is not read yet; empty for nothing."""
        return self.events[-3] if self.events else ""

    def read_at_once(self) -> None:
        """From here on. May be called by any thread."""
        self.is_current = False
        self.at_once, self.read_at = True, 0.0

    def take(self) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        """The events that were noted so far. Other threads may go on to note."""
        at_once = self.at_once
        taken = self.events[:]
        del self.events[: len(taken)]
        self.read_at = 0.0 if self.at_once else time.perf_counter() + self._pace.next_s()
        return self._each(taken, at_once)

    def _each(self, taken: list[Any], at_once: bool) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        values = iter(taken)
        yield from zip(values, values, values)
        self.is_current = at_once
