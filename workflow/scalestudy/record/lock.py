"""File locks: they go with the processes that hold them, however those end. Their files go when they are released.

A process that is started while a lock is held can be handed it (`held_files`): the lock is free once all of them
have let go. So a launcher that is killed does not free its host while what it started still runs.
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.record.files import unwritable, writing

_POLL_S = 0.5  # seldom: the process that holds the lock may be measuring on this very host
_HELD: dict[int, Path] = {}
_TAKEN = (errno.EACCES, errno.EAGAIN)
_IN_ITS_PLACE = (errno.EISDIR, errno.ELOOP, errno.ENXIO)  # a directory, a link, a socket


def held_files() -> dict[int, Path]:
    """The locks that this process holds: the path of each by its file descriptor."""
    return dict(_HELD)


@contextlib.contextmanager
def exclusive(path: Path, *, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold `path` alone until the end of the context; `waiting` is called once when somebody else holds it.

    Raises OSError where its file system has no locks, and UserError where something else is in its place. A mere
    file in place of a lock would outlive a killed process.
    """
    said = False
    while (file := _take(path)) is None:
        if not said:
            said = True
            waiting()
            continue
        time.sleep(_POLL_S)
    with _release(file, path):
        yield


@contextlib.contextmanager
def exclusive_now(path: Path) -> Iterator[bool]:
    """Hold `path` alone if nobody else does: whether we do."""
    file = _take(path)
    if file is None:
        yield False
        return
    with _release(file, path):
        yield True


def _take(path: Path) -> int | None:
    """A file descriptor that holds the lock; None where somebody else holds it."""
    while True:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            continue  # its folder went meanwhile
        except OSError as error:
            if error.errno in _IN_ITS_PLACE:
                raise UserError(f"{path}: cannot be used as a lock ({error.strerror}); remove it") from None
            raise unwritable(error, path) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_in_place(file, path):
                _HELD[file] = path
                return file
        except OSError as error:
            if error.errno in _TAKEN:
                os.close(file)
                return None
            if error.errno != errno.ESTALE:  # NFS: removed on another host
                os.close(file)
                raise
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _is_in_place(file: int, path: Path) -> bool:
    """Whether the file that is locked is still the one at the path: its last holder removed it. It is opened
    again, since on NFS only that asks the server."""
    try:
        there = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.path.sameopenfile(file, there)
    finally:
        os.close(there)


@contextlib.contextmanager
def _release(file: int, path: Path) -> Iterator[None]:
    """Remove the file of the lock while it is still held, and let go, at the end of the context."""
    try:
        yield
    finally:
        del _HELD[file]
        with contextlib.suppress(OSError):
            if _is_in_place(file, path):
                path.unlink()
        os.close(file)
