"""The lines that a terminal shows of a line in a file: a progress bar writes over itself."""

from __future__ import annotations

import re

from scalestudy.importers.logs.lines import ESCAPES


def parts_of(line: bytes) -> list[bytes]:
    """Return the lines that a terminal shows one after the other, without its colours."""
    if b"\x1b" in line:
        line = ESCAPES.sub(b"", line)
    if b"\r" not in line[:-2] and b"\x08" not in line:
        return [line]
    return [part for part in re.split(rb"[\r\x08]+", line) if part.strip()]
