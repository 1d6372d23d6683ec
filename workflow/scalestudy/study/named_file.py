"""Reading a file that somebody named: it may be a folder, a pipe that nobody writes into, or an endless device."""

from __future__ import annotations

import os
import stat
from difflib import get_close_matches
from errno import EINVAL, EISDIR
from pathlib import Path

_OF_THIS_PROCESS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""What a shell connects to a command on purpose: `< study.yaml` and `<(command)`."""


def read_named(path: Path, *, most: int = -1) -> bytes:
    """The content of a file, of which at most `most` bytes are read.

    Raises OSError where it is missing, may not be read, or is no file: opening a pipe could wait for ever, and a
    device has no end. What a shell connects to this process is read like a file.
    """
    connected = str(path).startswith(_OF_THIS_PROCESS)
    try:
        handle = os.open(path, os.O_RDONLY | (0 if connected else os.O_NONBLOCK))
    except ValueError as error:  # a NUL in its name, as a document of somebody else may have one
        raise OSError(EINVAL, str(error), repr(str(path))) from None
    try:
        kind = os.fstat(handle).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(EISDIR, "is a folder, not a file", str(path))
        if not stat.S_ISREG(kind) and not connected:
            raise OSError(EINVAL, "is a pipe or a device, not a file", str(path))
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def nearest(path: Path) -> str:
    """'; did you mean X?' with the name beside a path that is nearest to its own; '' where none is near."""
    try:
        beside = [entry.name for entry in os.scandir(path.parent)]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(path.name, beside, n=1)
    return f"; did you mean {path.with_name(near[0])}?" if near and near[0] != path.name else ""
