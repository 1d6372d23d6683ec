"""A rank without progress is detected, and a working rank is not disturbed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import pytest
import torch
from conftest import wait_for
from scalestudy.train.place.device_work import asks_stream, is_busy
from scalestudy.train.place.watchdog import Watchdog, waits


def test_one_call_that_does_not_end_is_noticed_once() -> None:
    said: list[tuple[str, bool]] = []
    call = threading.Lock()
    call.acquire()

    def give_up(where: str, waiting: bool, told: bool) -> None:
        assert not told
        said.append((where, waiting))
        call.release()

    watchdog = Watchdog(0.3, give_up)
    watchdog.start()
    assert call.acquire(timeout=60)
    time.sleep(0.5)
    watchdog.stop()
    ((where, waiting),) = said
    assert where.startswith("test_one_call_that_does_not_end_is_noticed_once (test_watchdog.py:")
    assert not waiting


def test_a_thread_that_makes_steps_is_left_alone_wherever_it_is_seen() -> None:
    """It is in one and the same call whenever it is looked at, and for longer than the limit."""
    said: list[str] = []
    watchdog = Watchdog(1.0, lambda where, *_: said.append(where))
    made = 0
    watchdog.steps = lambda: made
    watchdog.start()
    for _ in range(30):
        time.sleep(0.05)
        made += 1
    watchdog.stop()
    assert not said


def test_a_process_that_was_stopped_as_a_whole_does_not_say_that_it_waited() -> None:
    """Whoever stops it is the cause; the first thing that it sees is its own call, as it was long ago.

    It knows so until the others have come with it again: once it made more than a step, a stall is another matter.
    """
    code = """
import os, sys
from scalestudy.train.place.watchdog import Watchdog
watchdog = Watchdog(3.0, lambda *_: (print("gave up", flush=True), os._exit(3)))
watchdog.steps = lambda: steps
steps = 7
watchdog.start()
os.write(1, b"ready")
os.read(0, 1)
for steps in (7, 8, 9):
    print(watchdog.stopped_s)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(5) == b"ready"
    time.sleep(0.5)  # it has looked at itself
    process.send_signal(signal.SIGSTOP)
    time.sleep(4)
    process.send_signal(signal.SIGCONT)
    time.sleep(1)  # three looks, within its limit
    said, _ = process.communicate(b"x", timeout=30)
    at_once, a_step_later, long_ago = map(float, said.split())
    assert 3.5 < at_once < 30
    assert a_step_later == at_once
    assert long_ago == 0
    assert process.returncode == 0


def test_a_rank_that_does_not_answer_sigterm_is_noticed_long_before_its_limit() -> None:
    """Its main thread is in a lock of the C library: no handler of Python's runs there."""
    code = """
import ctypes, os, signal
from scalestudy.train.place import watchdog
signal.signal(signal.SIGTERM, lambda *_: None)
watchdog.ANSWER_S = 0.5
def give_up(where, waiting, told):
    print("told" if told else "on its own", where, flush=True)
    os._exit(3)
watchdog.Watchdog(1000.0, give_up).start()
library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
os.write(1, b"ready")
for _ in range(2):
    library.pthread_mutex_lock(mutex)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.read(5) == "ready"
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=30)
    assert said.startswith("told <module>")
    assert process.returncode == 3


def test_it_may_be_stopped() -> None:
    said: list[str] = []
    watchdog = Watchdog(0.2, lambda where, *_: said.append(where))
    watchdog.start()
    watchdog.stop()
    time.sleep(0.5)
    assert not said
    wait_for(lambda: not any(thread.name == "watchdog" for thread in threading.enumerate()))


def test_it_keeps_nothing_alive() -> None:
    """Variables of an inspected frame are freed when their function returns, and not at the next inspection."""

    class Large:
        pass

    def work() -> weakref.ref:
        mine = Large()
        time.sleep(0.3)
        return weakref.ref(mine)

    watchdog = Watchdog(1.0, lambda *_: None)  # looks every 0.1 s
    watchdog.start()
    assert work()() is None
    watchdog.stop()


class FakeStream:
    """A simulated stream of a device: done or not, an error, or no answer."""

    def __init__(self, answer: bool | Exception | threading.Event) -> None:
        self.answer = answer

    def query(self) -> bool:
        if isinstance(self.answer, threading.Event):
            return self.answer.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_stream_is_busy_until_it_says_that_it_is_done() -> None:
    never = threading.Event()
    assert is_busy(FakeStream(answer=False))
    assert not is_busy(FakeStream(answer=True))
    assert is_busy(FakeStream(never), answer_s=0.05)
    never.set()
    assert not is_busy(FakeStream(RuntimeError("CUDA error: an illegal memory access")))
    assert asks_stream(torch.device("cpu")) is None


DISTRIBUTED = f"{torch.__path__[0]}/distributed/distributed_c10d.py"
AUTOGRAD = f"{torch.__path__[0]}/autograd/graph.py"
OURS = "/somewhere/train/step/steps.py"


@pytest.mark.parametrize(
    ("filename", "on_cpu", "busy", "idle"),
    [(OURS, False, True, False), (AUTOGRAD, True, True, False), (DISTRIBUTED, True, True, True)],
)
def test_on_a_device_who_waits_is_told_by_its_stream(filename: str, on_cpu: bool, busy: bool, idle: bool) -> None:
    """`.item()` in our own loop waits for a device that is in a collective; an idle device waits for its host."""
    assert [waits(filename, state) for state in (None, True, False)] == [on_cpu, busy, idle]


@pytest.mark.parametrize("busy", [True, False])
def test_a_rank_that_stands_still_in_our_own_loop_asks_its_stream(busy: bool) -> None:
    said: list[Any] = []
    call = threading.Lock()
    call.acquire()

    def give_up(where: str, waiting: bool, told: bool) -> None:
        said.append((where, waiting))
        call.release()

    watchdog = Watchdog(0.2, give_up)
    stream = FakeStream(answer=not busy)
    watchdog.busy = lambda: is_busy(stream)
    watchdog.start()
    assert call.acquire(timeout=60)
    watchdog.stop()
    ((where, waiting),) = said
    assert waiting == busy
    assert where.endswith(", with a busy device" if busy else ", with an idle device")
