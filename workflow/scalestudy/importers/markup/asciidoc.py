"""Finds tables of AsciiDoc: cells after bars, between two lines of a bar and equals signs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scalestudy.importers.raw import RawTable

_EDGE = re.compile(r"\s*\|={3,}\s*")
_CELL = re.compile(r"(?:^|\s)(?:\d+\+)?(?:\.\d+\+)?[<^>]?[aehlmsv]?\|")


def asciidoc_tables(lines: list[str]) -> Iterator[tuple[RawTable, int]]:
    """Yield the tables of AsciiDoc, each with its last line."""
    start = 0
    while start < len(lines):
        if not _EDGE.fullmatch(lines[start]):
            start += 1
            continue
        end = next((n for n in range(start + 1, len(lines)) if _EDGE.fullmatch(lines[n])), None)
        if end is None:
            return
        above = lines[start - 1].strip() if start else ""
        before = lines[start - 2].strip() if start > 1 and above.startswith("[") else above
        table = _made(lines, start + 1, end, before.removeprefix(".") if before.startswith(".") else "")
        if table is not None:
            yield table, end + 1
        start = end + 1


def _made(lines: list[str], start: int, end: int, title: str) -> RawTable | None:
    cells: list[tuple[int, str]] = []
    width = 0
    for number in range(start, end):
        parts = _CELL.split(lines[number])
        own = [part.strip() for part in parts[1:]]
        if not own and lines[number].strip() and cells:
            cells[-1] = (cells[-1][0], f"{cells[-1][1]} {lines[number].strip()}")
        width = width or len(own)
        cells += [(number + 1, part) for part in own]
    if width < 2 or len(cells) < 2 * width:
        return None
    rows = [cells[at : at + width] for at in range(0, len(cells) - width + 1, width)]
    body = tuple((row[0][0], tuple(cell for _, cell in row)) for row in rows)
    return RawTable(body[0][0], body[0][1], body[1:], caption=title)
