"""Output whose reader may leave (`| head`): the command completes what it writes to files, and prints no more."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast


class _Leavable:
    """A text stream that writes to /dev/null once its reader has closed the pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            leave(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            leave(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def leave(stream: Any) -> None:
    """Redirect a stream to /dev/null, so that what it still holds raises no error when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def readers_may_leave() -> Iterator[None]:
    """Within this context no closed pipe raises an error. A stream that is closed before stays None."""
    out, error = (stream and cast(TextIO, _Leavable(stream)) for stream in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        yield
