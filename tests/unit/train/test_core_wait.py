"""A thread detects that other processes have its core; threads of its own process do not count."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from scalestudy.train.core_wait import CoreWait

BUSY_S = 1.0


def work(seconds: float) -> None:
    """Use a core for so much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def share_while_working() -> float:
    wait = CoreWait()
    begin, since = time.perf_counter(), wait.now()
    work(BUSY_S)
    return wait.share(since, step_s=time.perf_counter() - begin)


@contextmanager
def on_one_core() -> Iterator[int]:
    cores = os.sched_getaffinity(0)
    core = min(cores)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, cores)


def take(core: int) -> None:
    os.sched_setaffinity(0, {core})
    while True:
        sum(range(1000))


def test_another_process_on_the_core_is_seen() -> None:
    with on_one_core() as core:
        other = multiprocessing.get_context("spawn").Process(target=take, args=(core,), daemon=True)
        other.start()
        try:
            time.sleep(0.5)
            deadline = time.monotonic() + 30
            while (share := share_while_working()) < 0.2:
                assert time.monotonic() < deadline, (
                    f"{share:.0%} of the time, beside a process that takes half of it"
                )
        finally:
            other.terminate()
            other.join()
    assert share <= 1


def test_threads_of_the_same_process_are_not_others() -> None:
    """They share one core with this thread. Waiting for them does not count as waiting for other processes."""
    with on_one_core():
        stop = threading.Event()

        def beside() -> None:
            while not stop.is_set():
                hash_of_much()

        other = threading.Thread(target=beside)
        other.start()
        try:
            wait = CoreWait()
            since = wait.now()
            while wait.now().own_s - since.own_s < BUSY_S:
                hash_of_much()
            ready_s, own_s, wall_s = (now - then for now, then in zip(wait.now(), since, strict=True))
            assert ready_s > BUSY_S / 2, "the other thread had the core"
            assert wait.share(since, step_s=wall_s) <= max(0.0, ready_s - own_s) / wall_s + 0.01
        finally:
            stop.set()
            other.join()


def hash_of_much() -> None:
    """Releases the interpreter's lock, so that threads really compete for the core."""
    hashlib.sha256(bytes(4_000_000)).digest()
