"""A rank that stands still is noticed, and one that works is left alone."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import weakref

from conftest import wait_for
from scalestudy.train.place.watchdog import Watchdog


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
    """Variables of a frame that is looked at are let go of when their function returns, and not a look later."""

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
