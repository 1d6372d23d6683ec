"""Safe printing of text from others: characters that control a terminal or reorder a line become visible escapes.

Descriptions, reasons, log lines, names of hosts and devices come from studies, ranks and records of other people.
Records keep the original text; everything that is printed or written into a document is converted here once.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO

_COMMANDS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except newline and tab
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of writing
    r"\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # have no width
    r"\u2028\u2029\ud800-\udfff]"  # line separators other than newline; unpaired surrogates
)


def visible(text: str) -> str:
    """The text with each such character as a Python escape sequence: `\\x1b`, `\\u202e`."""
    return _COMMANDS.sub(_spelled, text) if _COMMANDS.search(text) else text


def _spelled(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class _Visible:
    """A text stream that converts everything with `visible`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(visible(text))

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def visible_output() -> Iterator[None]:
    """Convert everything printed within this context with `visible`. A stream that is closed before stays None."""
    out, error = (stream and _Visible(stream) for stream in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        yield
