"""Finds grids with merged cells: cells between bars, and rules whose plus signs differ from rule to rule.

A merged cell is repeated in each of its columns. Grids without merged cells are found with Markdown (piped.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scalestudy.importers.markup.piped import LONGEST_CAPTION, is_rule, records
from scalestudy.importers.raw import RawTable

MOST_COLUMNS = 200
_EDGE = re.compile(r"\s*\+[-=+:]+\+\s*")


def grid_tables(lines: list[str]) -> Iterator[tuple[RawTable, int]]:
    """Yield the grids with merged cells, each with the line after it."""
    start, above = 0, ""
    while start < len(lines):
        if not _EDGE.fullmatch(lines[start]):
            above = lines[start].strip() or above
            start += 1
            continue
        end = start + 1
        while end < len(lines) and lines[end].strip()[:1] in ("|", "+"):
            end += 1
        table = _made(lines, start, end, above if len(above) <= LONGEST_CAPTION else "")
        if table is not None:
            yield table, end
        start, above = end, ""


def _made(lines: list[str], start: int, end: int, caption: str) -> RawTable | None:
    """The grid between two lines; None if it has no merged cells, or if its bars are not below each other."""
    block = [line.rstrip() for line in lines[start:end]]
    rules = [line for line in block if _EDGE.fullmatch(line)]
    edges = sorted({place for line in rules for place, sign in enumerate(line) if sign == "+"})
    if not 3 <= len(edges) <= MOST_COLUMNS or len({_crossings(line) for line in rules}) < 2:
        return None
    rows: list[tuple[int, tuple[str, ...]]] = []
    for number, line in enumerate(block, start=start + 1):
        if _EDGE.fullmatch(line):
            rows.append((number, ()))
            continue
        cells = _cells(line, edges)
        if cells is None:
            return None
        rows.append((number, cells))
    found = records(rows)
    return RawTable(found[0][0], found[0][1], tuple(found[1:]), (), caption.strip("*:> ")) if found else None


def _crossings(line: str) -> frozenset[int]:
    return frozenset(place for place, sign in enumerate(line) if sign == "+")


def _cells(line: str, edges: list[int]) -> tuple[str, ...] | None:
    """The cells of a line; a merged one is repeated. None if a bar stands between two edges."""
    bars = [place for place in edges if line[place : place + 1] in ("|", "+")]
    if any(sign == "|" and place not in edges for place, sign in enumerate(line)) or bars[:1] != edges[:1]:
        return None
    cells: list[str] = []
    for first, last in zip(bars, [*bars[1:], len(line)], strict=True):
        text = line[first + 1 : last].strip()
        text = "" if is_rule(text) else text
        cells += [text] * (sum(first <= place < last for place in edges[:-1]))
    return tuple(cells)
