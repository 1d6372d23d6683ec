"""What a command tells while it works: lines on stderr, since stdout is for what came out of it."""

import sys


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
