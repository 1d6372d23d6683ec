"""What a command tells while it works: lines on stderr, since stdout is for what came out of it."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
