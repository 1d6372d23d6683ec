"""Messages of a running command. They go to stderr, since stdout is for its result."""

import contextlib
import sys


def say(line: str) -> None:
    """Print a line to stderr. If that fails, for example because the terminal was closed, the command goes on."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)
