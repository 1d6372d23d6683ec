"""Joins the lines of a row over several lines to one line, line by line."""

from __future__ import annotations

import re

from scalestudy.importers.logs.console.form import LONGEST_ROW
from scalestudy.importers.logs.parts import parts_of

RULE = re.compile(rb"^[\s|+]*[-=*_#+\xe2\x94\x80\xe2\x95\x90]{5,}[-=*_#+|\s\xe2\x94\x80\xe2\x95\x90]*$")
BEGIN = re.compile(
    rb"(?i)(?<![a-z/_])(?<!total )(?:(?:global|training|train)[ _])?(?:step|iteration|iter|batch)s?"
    rb"['\"]?[\s:=#|\[]{1,40}\d+(?![\d.]*[a-z])"
)
BOX = re.compile(rb"^[\s|*\xe2\x94\x82\xe2\x95\x91]+|[\s|*,;\xe2\x94\x82\xe2\x95\x91]+$")
BEFORE = re.compile(rb"\s*[|:=\xe2\x94\x82]?\s+(?=[-+]?[\d.]+(?:e[-+]?\d+)?\s*[a-z%/]{0,12}$)", re.IGNORECASE)
"""What separates a name from its number at the end of a line."""
WORDS, RULES = (b"step", b"iter", b"batch"), (b"-", b"=", b"*", b"_", b"#", b"\xe2")
MOST_LINES = 200
"""Lines of a row."""


def rule_of(line: bytes) -> bytes:
    """What a line begins with, if it is a rule."""
    return line.lstrip(b" |+\t")[:1]


class Joiner:
    """Joins lines, of which each has its number."""

    def __init__(self, names: tuple[bytes, ...], *, rules: bytes) -> None:
        """names: only lines with one of them are joined; none for all lines. rules: what rules that end rows begin
        with; '' if steps begin rows."""
        self.names, self.ruled, self._rules = names, bool(rules), rules
        self.number = 0
        """Number of the first line of the row that has begun."""
        self._parts, self._size, self._begun = list[bytes](), 0, False

    def kind(self, part: bytes) -> tuple[bool, bool]:
        """(whether a line is a rule, whether it has the number of a step)."""
        first = rule_of(part)
        is_rule = (first == self._rules if self.ruled else first in RULES) and RULE.match(part) is not None
        lower = part.lower()
        return is_rule, any(word in lower for word in WORDS) and BEGIN.search(part) is not None

    def text(self, part: bytes, *, begins: bool) -> bytes:
        """The text of a line that is joined to a row, a number behind a colon; '' if it is not joined."""
        if self.names and not begins and not any(name in part for name in self.names):
            return b""
        return BEFORE.sub(b": ", BOX.sub(b"", part), count=1)

    def take(self, number: int, line: bytes) -> list[bytes]:
        """Add a line. Return the rows that end before it or in it."""
        rows = []
        for part in parts_of(line):
            is_rule, begins = self.kind(part)
            if is_rule if self.ruled else begins:
                rows += self.end()
                self.number = number
            self._begun |= begins
            if is_rule or not (self._begun or self.ruled) or len(self._parts) >= MOST_LINES:
                continue
            text = self.text(part, begins=begins)
            if text and self._size + len(text) + 3 < LONGEST_ROW:
                self._parts.append(text)
                self._size += len(text) + 3
        return rows

    def end(self) -> list[bytes]:
        """End the row that has begun, and return it."""
        rows = [b" | ".join(self._parts) + b"\n"] if self._begun else []
        self._parts, self._size, self._begun = [], 0, False
        return rows
