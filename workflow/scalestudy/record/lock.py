"""File locks: they go with the process that holds them, however it ends, and with it alone."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from filelock import FileLock, Timeout

_POLL_S = 0.5  # seldom: the process that holds the lock may be measuring on this very host


def exclusive(path: Path, *, waiting: Callable[[], None]) -> AbstractContextManager[object]:
    """Hold `path` alone until the end of the context; `waiting` is called once when somebody else holds it.

    Raises OSError where `path` cannot be written or its file system has no locks. A mere file in place of a lock
    would outlive a killed process.
    """
    lock = FileLock(path, poll_interval=_POLL_S, fallback_to_soft=False)
    try:
        return lock.acquire(blocking=False)
    except Timeout:
        waiting()
        return lock.acquire()


@contextlib.contextmanager
def exclusive_now(path: Path) -> Iterator[bool]:
    """Hold `path` alone if nobody else does: whether we do."""
    lock = FileLock(path, fallback_to_soft=False)
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    with held:
        yield True
