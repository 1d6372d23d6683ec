"""What the hooks saw and nothing has been made of yet.

A step passes six hooks, each in the middle of work that has filled the processor's caches with its own data. Code
that runs there is slow: the state machine (steps.py) takes 5 us a step by itself, and ten times as long where the
hooks of a step of a millisecond run it. So they only note what happened and when, and it is read in one go.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

READ_EVERY_S = 0.1
"""Seconds until what was noted is read: short, so that no step pays for many."""
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

    def begin_again(self) -> None:
        """In a forked child, which is a process of its own."""
        self.events.clear()
        self.now, self.read_at, self.at_once = time.perf_counter, 0.0, True

    @property
    def last(self) -> str:
        """What happened last, of what is not read yet; empty for nothing."""
        return self.events[-3] if self.events else ""

    def read_at_once(self) -> None:
        """From here on. May be called by any thread."""
        self.at_once, self.read_at = True, 0.0

    def take(self) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
        """The events that were noted so far. Other threads may go on to note."""
        taken = self.events[:]
        del self.events[: len(taken)]
        self.read_at = 0.0 if self.at_once else time.perf_counter() + READ_EVERY_S
        values = iter(taken)
        return zip(values, values, values)
