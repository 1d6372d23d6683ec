"""File locks, which end with the processes that hold them, however those end. Releasing a lock removes its file.

A process that is started while a lock is held can inherit it (`held_files`). The lock is free once all holders
have released it. So a launcher that is killed does not free its host while the processes it started still run.
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

_POLL_S = 0.5  # rarely: the process that holds the lock may be measuring on this host
_HELD: dict[int, Path] = {}
_TAKEN = (errno.EACCES, errno.EAGAIN)
_IN_ITS_PLACE = (errno.EISDIR, errno.ELOOP, errno.ENXIO)  # a directory, a link, a socket


def held_files() -> dict[int, Path]:
    """Return the locks that this process holds: file descriptor -> path."""
    return dict(_HELD)


@contextlib.contextmanager
def exclusive(path: Path, *, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock `path` until the end of the context; call `waiting` once if another process holds it.

    Raises OSError if the file system has no locks, and UserError if `path` is a folder, link or socket. A plain
    file that marks the lock, instead of a lock, would outlive a killed process.
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
    """Hold the lock `path` if no other process does. Yields whether this process holds it."""
    file = _take(path)
    if file is None:
        yield False
        return
    with _release(file, path):
        yield True


def _take(path: Path) -> int | None:
    """Return a file descriptor that holds the lock; None if another process holds it."""
    while True:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            continue  # its folder was removed in the meantime
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
    """Return whether the locked file is still the one at the path: its last holder may have removed it.

    The path is opened again, since on NFS only an open queries the server.
    """
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
    """At the end of the context, remove the lock's file while the lock is held, then release the lock."""
    try:
        yield
    finally:
        del _HELD[file]
        with contextlib.suppress(OSError):
            if _is_in_place(file, path):
                path.unlink()
        os.close(file)
