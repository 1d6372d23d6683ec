"""Events of a device that are recorded again: never one that a step still refers to."""

from __future__ import annotations

import gc
import random
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from scalestudy.attach.clock import DeviceClock


class Events:
    """What DeviceClock uses of torch, with a device whose time advances by 1 ms at every record."""

    def __init__(self) -> None:
        self.made = self.time_ms = 0
        device = self

        class Event:
            def __init__(self, *, enable_timing: bool) -> None:
                assert enable_timing
                device.made += 1

            def record(self) -> None:
                device.time_ms += 1
                self.at_ms = device.time_ms

            def elapsed_time(self, other: Any) -> float:
                return float(other.at_ms - self.at_ms)

        self.torch = SimpleNamespace(cuda=SimpleNamespace(Event=Event))


@pytest.fixture
def events() -> Events:
    return Events()


def test_steps_that_were_read_lend_their_events(events: Events) -> None:
    clock, kept, enough = DeviceClock(events.torch), 6, 0
    first, rows = clock.now(), []
    for step in range(1000):
        marks = [clock.now() for _ in range(6)]
        rows.append(marks)
        rows = rows[-kept:]
        assert [clock.between(a, b) for a, b in pairwise(marks)] == [0.001] * 5
        assert clock.between(first, marks[0]) == pytest.approx((1 + 6 * step) / 1000)
        enough = events.made if step < 100 else enough
    assert events.made == enough < 100


def test_an_event_that_is_referred_to_keeps_its_time(events: Events) -> None:
    """Marks are dropped in any order; gc is off, as in a training that collects garbage itself."""
    clock, chance = DeviceClock(events.torch), random.Random(3)
    held: dict[int, Any] = {}
    gc.disable()
    try:
        for _ in range(5000):
            mark = clock.now()
            held[events.time_ms] = mark
            del mark
            while len(held) > chance.randrange(1, 50):
                del held[chance.choice(list(held))]
            assert all(mark.at_ms == at for at, mark in held.items())
    finally:
        gc.enable()
    assert events.made < 100
