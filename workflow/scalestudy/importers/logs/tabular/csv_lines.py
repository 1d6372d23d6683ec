"""The bytes of a CSV file for Arrow: without comments, and with the lines at which its rows begin."""

from __future__ import annotations

import codecs
import re
from typing import IO

import numpy as np

from scalestudy.importers.logs.lines import LONGEST_LINE

BLOCK = 1 << 20
COMMENT = re.compile(rb"\n#[^\n]*")


class Uncommented:
    """A file without its lines that begin with #: each becomes a row of empty cells, so that lines keep their
    numbers."""

    closed = False

    def __init__(
        self, file: IO[bytes], columns: int, delimiter: str, *, header_line: int, over_lines: bool
    ) -> None:
        self._file, self._empty = file, delimiter.encode() * (columns - 1)
        self._begins, self._inside = True, False
        self._line = 0  # bytes of the line that has begun
        self.ends = 0
        """Ends of lines that were read."""
        self.over_lines, self._quotes = over_lines, 0
        self._noted: list[np.ndarray] = []
        """Lines at which rows end, where a cell may go over several lines. Arrow reads in a thread of its own."""
        self._row_ends, self._header_line, self._last_end = np.empty(0), header_line, float(header_line)
        self._decode = codecs.getincrementaldecoder("utf-8")().decode

    def read(self, size: int) -> bytes:
        """The next part of about that size; b'' at the end. Raises ValueError for what is no table of text."""
        part = self._file.read(min(size, BLOCK))
        self._decode(part, final=not part)
        end = part.find(b"\n")
        if self._line + (end if end >= 0 else len(part)) > LONGEST_LINE:
            raise ValueError("too long a line")
        self._line = len(part) - part.rfind(b"\n") if end >= 0 else self._line + len(part)
        if not part:
            return b""
        if self.over_lines:
            self._note_ends(part)
        self.ends += part.count(b"\n")
        kept = part
        if self._inside or (self._begins and part[:1] == b"#") or b"\n#" in part:
            kept = self._without(part)
        self._begins = part[-1:] == b"\n"
        return kept or self.read(size)

    def _note_ends(self, part: bytes) -> None:
        """Note the lines at which rows end: those before whose end all quotes are closed."""
        found = np.frombuffer(part, np.uint8)
        ends = np.flatnonzero(found == ord("\n"))
        quotes = np.cumsum(found == ord('"'), dtype=np.int32)
        closed = (quotes[ends] + self._quotes) % 2 == 0
        self._quotes += int(quotes[-1])
        lines = self.ends + 1.0 + np.flatnonzero(closed)
        self._noted.append(lines[lines > self._header_line])

    @property
    def row_ends(self) -> np.ndarray:
        """The lines at which the rows end that were read and not taken."""
        noted = [self._noted.pop(0) for _ in range(len(self._noted))]
        self._row_ends = np.concatenate([self._row_ends, *noted])
        return self._row_ends

    def next_rows(self, count: int) -> np.ndarray:
        """Return the lines at which the next rows begin. Raises ValueError if quotes show fewer."""
        known = self.row_ends
        ends, self._row_ends = known[:count], known[count:]
        begins = np.concatenate([[self._last_end], ends])[:count] + 1.0
        if len(begins) < count or not count:
            raise ValueError("quotes that do not separate rows")
        self._last_end = float(ends[-1]) if len(ends) else self._last_end
        return begins

    def _without(self, part: bytes) -> bytes:
        head = b""
        if self._inside:  # the rest of a comment that began in the part before
            end = part.find(b"\n")
            if end < 0:
                return b""
            head, part, self._begins = part[end : end + 1], part[end + 1 :], True
        last = part.rfind(b"\n") + 1
        self._inside = part[last : last + 1] == b"#" and (last > 0 or self._begins)
        at = b"\n" + part if self._begins else part
        at = COMMENT.sub(b"\n" + self._empty, at)
        return head + (at[1:] if self._begins else at)
