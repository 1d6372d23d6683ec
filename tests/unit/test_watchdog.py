"""A rank that stands still is noticed, and one that works is left alone."""

from __future__ import annotations

import threading
import time

import pytest
from scalestudy.train.watchdog import Watchdog


def watched(limit_s: float, seconds: float, *, work: bool) -> list[tuple[str, bool]]:
    """What a watchdog says of so many seconds in which the main thread works, or sleeps in one call."""
    said: list[tuple[str, bool]] = []
    watchdog = Watchdog(limit_s, lambda where, waiting: said.append((where, waiting)))
    watchdog.start()
    end = time.monotonic() + seconds
    while work and time.monotonic() < end:
        sum(range(1000))
    if not work:
        time.sleep(seconds)
    watchdog.stop()
    return said


def test_one_call_that_does_not_end_is_noticed_once() -> None:
    ((where, waiting),) = watched(0.3, 1.0, work=False)
    assert where.startswith("watched (test_watchdog.py:")
    assert not waiting


def test_a_thread_that_works_is_left_alone() -> None:
    assert watched(0.3, 1.0, work=True) == []


def test_it_may_be_stopped() -> None:
    watchdog = Watchdog(0.2, lambda *_: pytest.fail("it was stopped"))
    watchdog.start()
    watchdog.stop()
    time.sleep(0.5)
    assert not any(thread.name == "watchdog" for thread in threading.enumerate())
