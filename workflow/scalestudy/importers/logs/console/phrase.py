"""One named number of a line that a trainer prints, and what finds it in other lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log10

NUMBER = rb"\d{1,15}(?:,\d{3}){0,5}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,2})?"
EPOCH = re.compile(rb"\b[Ee]poch[ :=\[]{1,4}(?P<value>\d{1,9})\b")
_TOTAL = rb"(?: */ *(?P<total>\d{1,15}))?"
BETWEEN = rb"['\"]?\s*[:=#\[]?\s*['\"]?"
"""Between a name and its number."""
ELAPSED = frozenset(
    (
        "elapsed",
        "elapsed time",
        "elapsed_time",
        "time elapsed",
        "time_elapsed",
        "wall time",
    )
)
MOST_IN_FRONT = 24
"""Bytes in front of a name by which it differs from the same name of another number."""

Finder = Callable[..., "re.Match[bytes] | None"]
_OF_NAMES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/")


@dataclass(frozen=True)
class Phrase:
    """A number of a line and what it is."""

    name: str
    quantity: str
    start: int
    value: bytes
    unit_text: bytes = b""
    factor: float | None = 1.0
    unit: str = ""
    per: str = ""
    averaged: bool = False
    """Whether a mean follows in parentheses, so that the number itself is of the last step."""
    end: int = 0
    """Where the text behind its unit begins."""
    position: bool = False
    pattern: re.Pattern[bytes] | None = None
    """What finds the number, where it has no name."""
    whole: bytes = b""
    """The text of a position."""
    of_a_step: bool = False
    """Whether the name of a time says that it is of a step."""
    since_row: bool = False
    """Whether a number of steps is that since the row before."""
    text: bytes = b""
    """The name with text in front of it, by which it differs from the same name of another number."""

    @property
    def in_epoch(self) -> bool:
        """Whether a position has the number of its epoch in front."""
        return "epoch" in _place(self.whole).groupindex

    @property
    def shown(self) -> str:
        after = f" {self.value.decode()}{self.unit_text.decode('utf-8', 'replace')}"
        return f"{self.name}{after}" if self.name else after.strip()

    @property
    def key(self) -> bytes:
        """A text that is in every line with this number."""
        return self.name.encode() if self.name else self.unit_text.strip()

    @property
    def since_start(self) -> bool:
        """Whether the name of a time says that it has passed since the start."""
        return self.name.lower() in ELAPSED

    @property
    def is_mean(self) -> bool:
        """Whether its name calls it a mean, over some or all of the steps."""
        return re.search(r"(?i)(?<![a-z])(?:avg|average|mean|running)(?![a-z])", self.name) is not None

    @property
    def number_at(self) -> int:
        """Where the number begins."""
        return self.start + len(self.name)

    @property
    def literal(self) -> bytes:
        """The text in front of the number that its finder looks for."""
        return self.text or self.name.encode()

    def located(self, line: bytes, begin: int) -> Phrase:
        """Return this number with enough text in front of its name that its finder finds only this number.

        begin: where the search in its line starts. The line may have other numbers of the same name.
        """
        if self.pattern or self.position or self.quantity == "epoch":
            return self
        name = self.name.encode()
        name_at = line.rfind(name, 0, self.number_at) if name else self.number_at
        for more in range(MOST_IN_FRONT):
            front = line[name_at - more : name_at] if more <= name_at - begin else b""
            if len(front) < more or front[:1].isdigit():
                break
            made = replace(self, text=front + name) if more else self
            found = made.finder()(line, begin)
            if found and found.start("value") == self.number_at:
                return made
        return self

    def finder(self) -> Finder:
        """Return what finds this number in other lines: a match with the groups `value`, and `total` and `epoch`
        where a line has them."""
        if self.pattern:
            return self.pattern.search
        if self.position:
            return _place(self.whole).search
        if self.quantity == "epoch":
            return EPOCH.search
        if not self.literal:
            return re.compile(self.number()).search
        tail = re.compile(BETWEEN + self.number()).match
        name = self.literal
        word = name[0] in _OF_NAMES

        def find(line: bytes, start: int = 0) -> re.Match[bytes] | None:
            at = line.find(name, start)
            while at >= 0:
                if (not word or not at or line[at - 1] not in _OF_NAMES) and (found := tail(line, at + len(name))):
                    return found
                at = line.find(name, at + 1)
            return None

        return find

    def source(self) -> bytes | None:
        """Return the pattern of this number and of the text in front of it within a line, which finds what the
        finder finds; None if it has none."""
        if self.pattern:
            return None
        if self.position:
            place = _place(self.whole).pattern
            return place if place[:1] == b"^" else b"[^\\n]*?" + place
        if self.quantity == "epoch":
            return b"[^\\n]*?" + EPOCH.pattern
        if not self.literal:
            return b"[^\\n]*?" + self.number()
        return self.behind(BETWEEN + self.number()) + BETWEEN + self.number()

    def behind(self, tail: bytes) -> bytes:
        """Return the pattern of the text up to the end of the first name that this tail follows."""
        first, rest = re.escape(self.literal[:1]), re.escape(self.literal[1:])
        inner = rb"|(?<=[\w/])%b" % first if self.literal[0] in _OF_NAMES else b""
        no_groups = re.sub(rb"\(\?P<\w+>", b"(?:", tail)
        return rb"(?:[^%b\n]++%b|%b(?!%b%b))*+%b%b" % (first, inner, first, rest, no_groups, first, rest)

    def digits(self, value: bytes) -> int:
        """Return the digits behind the point of a number of the same unit, in our unit."""
        return len(value.partition(b".")[2]) + (round(-log10(self.factor)) if self.factor else 0)

    def number(self) -> bytes:
        """The pattern of the number with its unit, and with the total of a step."""
        unit = rb" ?" + re.escape(self.unit_text.strip()) + rb"(?![\w/])" if self.unit_text else b""
        return b"(?P<value>%b)" % NUMBER + unit + (_TOTAL if self.quantity == "step" and self.name else b"")


def _place(shown: bytes) -> re.Pattern[bytes]:
    """The pattern of positions like this one. It begins with the same text, which is found fast."""
    count = rb"(?P<value>\d{1,15}) */ *(?P<total>\d{1,15})(?!\d| \d\d:)"
    begin = re.match(rb"[Ee]poch:? *\[?|Train: |\[ *(?=\d+(?:/\d+)? *\])", shown)
    if begin:
        return re.compile(
            re.escape(begin[0].rstrip()) + rb" *(?P<epoch>\d{1,9})(?:/\d+)? *\]? *[,|:-]? *\[ *" + count
        )
    return re.compile((rb"\[ *" if shown[:1] == b"[" else rb"^ *") + count)
