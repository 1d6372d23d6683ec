"""What a command tells while it works: lines on stderr, since stdout is for what came out of it."""

import contextlib
import sys


def say(line: str) -> None:
    """Print a line. Nobody to hear it, as after a terminal has hung up, is no reason to stop."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)
