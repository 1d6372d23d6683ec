"""Joins rows over several lines in many lines at once, where each row has the same lines as the row before it.

Only lines that a row needs are looked at: those with the name of a number that is read, with a word for a step,
and rules. What such lines have apart from their numbers makes the pattern of a row, by which many rows are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scalestudy.importers.logs.console.spread_lines import BEFORE, BOX, WORDS, Joiner

Line = tuple[int, bytes]
_RULE = re.compile(rb"(?m)^[ |+\t]*[-=*_#\xe2]")
_LEFT = rb"[ \t\r\f\v|*\xe2\x94\x82\x95\x91]*"
_RIGHT = rb"[ \t\r\f\v|*,;\xe2\x94\x82\x95\x91]*\n"
_SEPARATOR = rb"[ \t]*[|:=\xe2\x94\x82]?[ \t]+"
"""The same as at both ends, and within, of the lines that are joined one by one."""
_DIGITS = re.compile(rb"(?<![A-Za-z_])\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NUMBER = rb"\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
_VALUE = re.compile(rb"([-+]?[\d.]+(?:e[-+]?\d+)?)(\s*[a-z%/]{0,12})", re.IGNORECASE)
_ODD = (b"\x1b", b"\x08")
"""In lines that are joined one by one."""
LEARNED_ROWS, MOST_WAITING = 3, 1000
"""Rows after which a pattern of them is made, and lines that are kept for it."""
NEWLINE = 10


@dataclass(frozen=True)
class _Lines:
    """Complete lines of a log, which need not follow each other there."""

    numbers: np.ndarray
    ends: np.ndarray
    """Place behind each line in the text."""
    text: bytes

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Line]:
        begin = 0
        for number, end in zip(self.numbers.tolist(), self.ends.tolist(), strict=True):
            yield number, self.text[begin:end]
            begin = end

    @property
    def end(self) -> int:
        """Number behind that of the last line."""
        return int(self.numbers[-1]) + 1 if len(self) else 0

    def part(self, begin: int, end: int) -> _Lines:
        """The lines from one place to another."""
        left, right = (int(self.ends[at - 1]) if at else 0 for at in (begin, end))
        return _Lines(self.numbers[begin:end], self.ends[begin:end] - left, self.text[left:right])

    def between(self, begin: int, end: int) -> _Lines:
        """The lines with a number from `begin` to below `end`."""
        return self.part(*np.searchsorted(self.numbers, (begin, end)).tolist())

    def with_more(self, more: _Lines) -> _Lines:
        """These lines and those behind them."""
        ends = np.concatenate([self.ends, more.ends + len(self.text)])
        return _Lines(np.concatenate([self.numbers, more.numbers]), ends, self.text + more.text)


NO_LINES = _Lines(np.zeros(0, int), np.zeros(0, int), b"")


class _Pattern:
    """The pattern of a row, by its lines."""

    def __init__(self, lines: list[bytes], joiner: Joiner) -> None:
        parts, joined = [], []
        for line in lines:
            is_rule, begins = joiner.kind(line)
            text = BOX.sub(b"", line)
            if is_rule or not joiner.text(line, begins=begins):
                parts.append(_general(line.rstrip()) + rb"[^\S\n]*\n")
                continue
            before = BEFORE.search(text)
            value = _VALUE.fullmatch(text[before.end() :]) if before else None
            if before and value:
                unit = re.escape(value[2])
                parts.append(
                    b"%b(%b)%b([-+]?[\\d.]+(?:[eE][-+]?\\d+)?%b)%b"
                    % (_LEFT, _general(text[: before.start()]), _SEPARATOR, unit, _RIGHT)
                )
                joined.append(b"%b: %b")
            else:
                parts.append(b"%b(%b)%b" % (_LEFT, _general(text), _RIGHT))
                joined.append(b"%b")
        self.lines = len(lines)
        self._find = re.compile(b"(?m)^" + b"".join(parts))
        self._joined = b" | ".join(joined) + b"\n"

    def joined(self, lines: _Lines) -> list[Line] | None:
        """Return the rows of lines, of which each row has the same number; None if one has another form."""
        text = lines.text
        if (
            not self._joined.strip()
            or any(odd in text for odd in _ODD)
            or text.count(b"\r") != text.count(b"\r\n")
        ):
            return None
        found = self._find.findall(text)
        if len(found) * self.lines != len(lines):
            return None
        joined = self._joined
        numbers = lines.numbers[:: self.lines].tolist()
        return [(number, joined % groups) for number, groups in zip(numbers, found, strict=True)]


def joined_in_blocks(blocks: Iterator[Line], joiner: Joiner) -> Iterator[Line]:
    """Yield (number of its first line, line) of each row. blocks: (number of its first line, complete lines)."""
    waiting = NO_LINES
    """Lines from the begin of a row on that the joiner has not taken."""
    pattern: _Pattern | None = None
    for first, block in blocks:
        waiting = waiting.with_more(_needed(first, block, joiner))
        if pattern and (whole := (len(waiting) - 1) // pattern.lines * pattern.lines) > 0:
            next_row = waiting.part(whole, len(waiting))
            is_rule, begins = joiner.kind(next_row.part(0, 1).text)
            at_once = pattern.joined(waiting.part(0, whole)) if (is_rule if joiner.ruled else begins) else None
            if at_once is not None:
                yield from at_once
                waiting = next_row
                continue
        rows = _one_by_one(waiting, joiner)
        yield from rows
        pattern = _learned(waiting, rows, joiner)
        late = waiting.between(joiner.number, waiting.end)
        waiting = NO_LINES
        if pattern and len(late) <= MOST_WAITING:  # the row that has begun is taken again, with others
            waiting = late
            joiner.end()
        else:
            pattern = None
    yield from _one_by_one(waiting, joiner)
    for row in joiner.end():
        yield joiner.number, row


def _one_by_one(lines: _Lines, joiner: Joiner) -> list[Line]:
    """The rows that end in these lines, each with the number of its first line."""
    rows = []
    for here, line in lines:
        number = joiner.number
        rows += [(number, row) for row in joiner.take(here, line)]
    return rows


def _learned(lines: _Lines, rows: list[Line], joiner: Joiner) -> _Pattern | None:
    """The pattern of a row by one that was joined from these lines; None if its lines do not follow each other as
    those of the row before it."""
    if len(rows) < LEARNED_ROWS:
        return None
    (first, _), (begin, row), (end, _) = rows[-3:]
    own = lines.between(begin, end)
    if not len(own) or len(lines.between(first, begin)) != len(own):
        return None
    pattern = _Pattern([line for _, line in own], joiner)
    return pattern if pattern.joined(own) == [(begin, row)] else None


def _needed(first: int, block: bytes, joiner: Joiner) -> _Lines:
    """The lines of a block that a row may need. first: number of its first line."""
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(text == NEWLINE)
    lower = block.lower()
    names = [name for name in joiner.names if not any(word in name.lower() for word in WORDS)]
    places = [_places(block, name) for name in names] + [_places(lower, word) for word in WORDS]
    if joiner.ruled:
        places.append(np.array([match.start() for match in _RULE.finditer(block)], dtype=int))
    is_kept = np.zeros(len(ends), dtype=bool)
    is_kept[np.searchsorted(ends, np.concatenate(places))] = True
    sizes = np.diff(ends, prepend=-1)
    kept = np.flatnonzero(is_kept)
    of_kept = text[: sizes.sum()][np.repeat(is_kept, sizes)]
    return _Lines(kept + first, np.cumsum(sizes[kept]), of_kept.tobytes())


def _places(block: bytes, text: bytes) -> np.ndarray:
    """Where a text begins in a block."""
    sizes = np.array(list(map(len, block.split(text)))[:-1], dtype=int)
    return np.cumsum(sizes) + len(text) * np.arange(len(sizes))


def _general(text: bytes) -> bytes:
    """The pattern of texts that differ from this one in their numbers and in the width of their gaps."""
    made, at = [], 0
    for digits in _DIGITS.finditer(text):
        made += [_with_gaps(text[at : digits.start()]), _NUMBER]
        at = digits.end()
    return b"".join([*made, _with_gaps(text[at:])])


def _with_gaps(text: bytes) -> bytes:
    return b" +".join(re.escape(part) for part in re.split(b" +", text))
