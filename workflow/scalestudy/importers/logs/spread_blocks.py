"""Joins rows over several lines in many lines at once, where each row has the same lines as the row before it.

Only lines that a row needs are looked at: those with the name of a number that is read, with a word for a step,
and rules. What such lines have apart from their numbers makes the pattern of a row, by which many rows are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from scalestudy.importers.logs.spread_lines import BEFORE, BOX, WORDS, Joiner

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

    def joined(self, lines: list[Line]) -> list[Line] | None:
        """Return the rows of lines, of which each row has the same number; None if one has another form."""
        text = b"".join([line for _, line in lines])
        if (
            not self._joined.strip()
            or any(odd in text for odd in _ODD)
            or text.count(b"\r") != text.count(b"\r\n")
        ):
            return None
        found = self._find.findall(text)
        if len(found) * self.lines != len(lines):
            return None
        numbers = [number for number, _ in lines[:: self.lines]]
        joined = self._joined
        return [(number, joined % groups) for number, groups in zip(numbers, found, strict=True)]


def joined_in_blocks(blocks: Iterator[Line], joiner: Joiner) -> Iterator[Line]:
    """Yield (number of its first line, line) of each row. blocks: (number of its first line, complete lines)."""
    waiting: list[Line] = []
    """Lines from the begin of a row on that the joiner has not taken."""
    pattern: _Pattern | None = None
    for first, block in blocks:
        waiting += _needed(first, block, joiner)
        if pattern and (whole := (len(waiting) - 1) // pattern.lines * pattern.lines) > 0:
            is_rule, begins = joiner.kind(waiting[whole][1])
            at_once = pattern.joined(waiting[:whole]) if (is_rule if joiner.ruled else begins) else None
            if at_once is not None:
                yield from at_once
                waiting = waiting[whole:]
                continue
        rows = _one_by_one(waiting, joiner)
        yield from rows
        pattern = _learned(waiting, rows, joiner)
        late = [line for line in waiting if line[0] >= joiner.number]
        waiting = []
        if pattern and len(late) <= MOST_WAITING:  # the row that has begun is taken again, with others
            waiting = late
            joiner.end()
        else:
            pattern = None
    yield from _one_by_one(waiting, joiner)
    for row in joiner.end():
        yield joiner.number, row


def _one_by_one(lines: list[Line], joiner: Joiner) -> list[Line]:
    """The rows that end in these lines, each with the number of its first line."""
    rows = []
    for here, line in lines:
        number = joiner.number
        rows += [(number, row) for row in joiner.take(here, line)]
    return rows


def _learned(lines: list[Line], rows: list[Line], joiner: Joiner) -> _Pattern | None:
    """The pattern of a row by one that was joined from these lines; None if its lines do not follow each other as
    those of the row before it."""
    if len(rows) < LEARNED_ROWS:
        return None
    (first, _), (begin, row), (end, _) = rows[-3:]
    before = [line for line in lines if first <= line[0] < begin]
    own = [line for line in lines if begin <= line[0] < end]
    if not own or len(before) != len(own):
        return None
    pattern = _Pattern([line for _, line in own], joiner)
    return pattern if pattern.joined(own) == [(begin, row)] else None


def _needed(first: int, block: bytes, joiner: Joiner) -> list[Line]:
    """The lines of a block that a row may need. first: number of its first line."""
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == NEWLINE)
    lower = block.lower()
    names = [name for name in joiner.names if not any(word in name.lower() for word in WORDS)]
    places = [_places(block, name) for name in names] + [_places(lower, word) for word in WORDS]
    if joiner.ruled:
        places.append(np.array([match.start() for match in _RULE.finditer(block)], dtype=int))
    is_kept = np.zeros(len(ends), dtype=bool)
    is_kept[np.searchsorted(ends, np.concatenate(places))] = True
    kept = np.flatnonzero(is_kept)
    begins = np.concatenate([[0], ends[:-1] + 1])[kept].tolist()
    numbers = (kept + first).tolist()
    return [
        (number, block[begin:end])
        for number, begin, end in zip(numbers, begins, (ends[kept] + 1).tolist(), strict=True)
    ]


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
