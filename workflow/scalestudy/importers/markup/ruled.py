"""Reads columns of plain text whose headers, of one line or several, stand above a rule with a gap in each column.

Number   DataParallel  Ray
of GPUs                + Apex
=======  ============  ======
1        355.5         776
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from scalestudy.importers.markup.naming import LONGEST
from scalestudy.importers.markup.piped import LONGEST_CAPTION
from scalestudy.importers.raw import RawTable

_RULE = re.compile(r"\s*[=-]{2,}(?:\s+[=-]{2,})+\s*")
_PART = re.compile(r"[=-]{2,}")
_MOST_LINES = 3
"""Lines of headers."""
_FEWEST = 2
"""Rows, and columns."""


def ruled_tables(lines: Sequence[str], taken: Set[int]) -> Iterator[RawTable]:
    """Yield the tables of a text. taken: numbers of lines that belong to other tables."""
    for at, line in enumerate(lines):
        if len(line) > LONGEST or not _RULE.fullmatch(line) or at + 1 in taken:
            continue
        spans = [(found.start(), found.end()) for found in _PART.finditer(line)]
        above = _above(lines, at, taken)
        rows = list(_rows(lines, at + 1, spans))
        if not above or len(rows) < _FEWEST:
            continue
        parts = [_cells(lines[number], spans) for number in above]
        if any(part is None for part in parts):
            continue
        words = zip(*(part for part in parts if part), strict=True)
        header = tuple(" ".join(filter(None, names)) for names in words)
        if all(header):
            yield RawTable(above[0] + 1, header, tuple(rows), caption=_comments(lines, above[0]))


def _comments(lines: Sequence[str], header: int) -> str:
    """The lines of comments above the headers, in one; empty lines may follow them."""
    at = header
    while at and not lines[at - 1].strip():
        at -= 1
    first = at
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    caption = ". ".join(line.strip("# .") for line in lines[first:at])
    return caption if len(caption) <= LONGEST_CAPTION else ""


def _above(lines: Sequence[str], rule: int, taken: Set[int]) -> list[int]:
    """The lines of headers above a rule; none if they are too many, or if another rule is above them."""
    found: list[int] = []
    for number in range(rule - 1, max(-1, rule - 2 - _MOST_LINES), -1):
        line = lines[number]
        if not line.strip() or line.lstrip().startswith(("`", "~", "..")) or line.rstrip().endswith("::"):
            break
        if _RULE.fullmatch(line) or number + 1 in taken or len(line) > LONGEST:
            return []
        found.insert(0, number)
    return found if len(found) <= _MOST_LINES else []


def _rows(
    lines: Sequence[str], start: int, spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number in range(start, len(lines)):
        cells = _cells(lines[number], spans) if len(lines[number]) <= LONGEST else None
        if cells is None or not lines[number].strip() or _RULE.fullmatch(lines[number]) or not cells[0]:
            return
        yield number + 1, tuple(cells)


def _cells(line: str, spans: Sequence[tuple[int, int]]) -> list[str] | None:
    """The cells of a line between the beginnings of columns; None if words stand where a column ends."""
    starts = [start for start, _ in spans]
    if line[: starts[0]].strip():
        return None
    ends = [*starts[1:], len(line)]
    if any(line[end - 1 : end].strip() and line[end : end + 1].strip() for end in ends[:-1] if end < len(line)):
        apart = re.split(r"\s{2,}", line.strip())  # a word goes over into the next column
        return apart if len(apart) == len(spans) else None
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
