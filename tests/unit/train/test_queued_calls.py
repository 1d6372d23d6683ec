"""Collectives of a device are timed by events around queued calls, on a simulated device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scalestudy.train.probes import queued_calls
from scalestudy.train.probes.collectives import LARGE_BYTES, large_messages
from scalestudy.train.probes.queued_calls import (
    FEWEST_GROUPS,
    MOST_GROUPS,
    QUEUED_CALLS,
    WARMUP_CALLS,
    time_queued,
)


class FakeDevice:
    """A queue of work and a host, each with its own time: a call takes the host 20 us, the device `call_s`."""

    ENQUEUE_S = 20e-6

    def __init__(self, call_s: float) -> None:
        self.call_s, self.host_s, self.done_s = call_s, 0.0, 0.0
        self.log: list[str] = []

    def perf_counter(self) -> float:
        return self.host_s

    def _give(self, seconds: float) -> None:
        self.done_s = max(self.done_s, self.host_s) + seconds

    def call(self) -> None:
        self.log.append("call")
        self.host_s += self.ENQUEUE_S
        self._give(self.call_s)

    def hold(self, seconds: float) -> None:
        self.log.append("hold")
        self._give(seconds)

    def now(self) -> float:
        self.log.append("event")
        self._give(0.0)
        return self.done_s

    def settle(self) -> None:
        self.log.append("wait")
        self.host_s = max(self.host_s, self.done_s)

    def between(self, marks: list[float]) -> np.ndarray:
        self.settle()
        return np.diff(marks)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeDevice], list[dict[str, float]]]:
    def measure(device: FakeDevice) -> list[dict[str, float]]:
        clock: Any = device
        monkeypatch.setattr(queued_calls, "time", device)
        return time_queued(device.call, clock, hold=device.hold, agree=lambda value: value)

    return measure


@pytest.mark.parametrize(("call_s", "groups"), [(5e-6, MOST_GROUPS), (20e-3, FEWEST_GROUPS)])
def test_the_device_is_timed_apart_from_the_host(measured: Any, call_s: float, groups: int) -> None:
    """Also where the host queues a call more slowly than the device executes it."""
    rows = measured(FakeDevice(call_s))
    assert len(rows) == groups
    assert [row["time_s"] for row in rows] == pytest.approx([call_s] * groups)
    assert [row["enqueue_s"] for row in rows] == pytest.approx([FakeDevice.ENQUEUE_S] * groups)


def test_no_call_of_a_group_is_waited_for(measured: Any) -> None:
    device = FakeDevice(1e-3)
    measured(device)
    group = ["event", *["call"] * QUEUED_CALLS, "event", "wait"]
    begun = ["call"] * WARMUP_CALLS + ["wait"] + group
    assert device.log[: len(begun)] == begun
    after = device.log[len(begun) :]
    each = ["hold", *group]
    assert after == each * (len(after) // len(each))


def test_large_messages_are_timed_where_memory_allows() -> None:
    assert large_messages(80e9) == LARGE_BYTES == (64 * 2**20, 256 * 2**20)
    assert large_messages(2**29) == LARGE_BYTES[:1]
    assert large_messages(2**20) == ()
