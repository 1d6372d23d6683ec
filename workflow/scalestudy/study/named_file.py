"""Reads a file that a user named, which may be a folder, a pipe without a writer, or an endless device."""

from __future__ import annotations

import os
import stat
from difflib import get_close_matches
from errno import EINVAL, EISDIR
from pathlib import Path

_OF_THIS_PROCESS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Files that a shell connects to a command: `< study.yaml` and `<(command)`."""


def read_named(path: Path, *, most: int = -1) -> bytes:
    """The content of a file, of which at most `most` bytes are read.

    Raises OSError if it is missing, is not readable, or is not a file: opening a pipe could wait forever, and a
    device has no end. Input that a shell connects to this process is read like a file.
    """
    connected = str(path).startswith(_OF_THIS_PROCESS)
    try:
        handle = os.open(path, os.O_RDONLY | (0 if connected else os.O_NONBLOCK))
    except ValueError as error:  # a NUL in its name, as in a hostile document
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


def not_utf8(error: UnicodeDecodeError) -> str:
    """Return which line of a text is not UTF-8, and what to do."""
    line = error.object.count(b"\n", 0, error.start) + 1
    byte = error.object[error.start]
    return f"line {line} is not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8"


def nearest(path: Path) -> str:
    """'; did you mean X?' with the most similar name in the same folder; '' if no name is similar."""
    try:
        beside = [entry.name for entry in os.scandir(path.parent)]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(path.name, beside, n=1)
    return f"; did you mean {path.with_name(near[0])}?" if near and near[0] != path.name else ""
