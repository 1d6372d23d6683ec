"""Reads tables whose cells stand below each other, as in a copy from a web page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.naming import is_count, is_number
from scalestudy.importers.numbers.printed import BEGINS_WITH_NUMBER, is_blank, plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

_LONGEST = 80
"""Characters of a cell."""
_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 16
_FEWEST_ROWS = 2
_MOST_CELLS = 3000
_NO_CELL = re.compile(r"\s*(?:#{1,6} |[|>`~]|[-*+] .*:|\d+\. [A-Z])")
"""The beginning of a heading, a quotation, a table, code or a list."""

Cell = tuple[int, str]
"""The line of a cell and its text."""
Row = tuple[int, tuple[str, ...]]
"""The line of the first cell of a row, and its cells."""


def stacked_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the table with the most cells: a paragraph or a line for each cell.

    A column has numbers in all rows or in none, except for empty cells.
    """
    found = [table for cells in (_paragraphs(lines), _single_lines(lines)) for table in _tables(cells)]
    return [max(found, key=lambda table: len(table.rows) * len(table.header))] if found else []


def _paragraphs(lines: Sequence[str]) -> list[Cell]:
    """A cell for each paragraph, whose lines are joined."""
    found: list[Cell] = []
    for number, (before, line) in enumerate(pairwise(["", *lines]), start=1):
        text = line.strip()
        if text and before.strip():
            first, above = found.pop()
            found.append((first, f"{above} {text}"))
        elif text:
            found.append((number, text))
    return found


def _single_lines(lines: Sequence[str]) -> list[Cell]:
    return [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


def _tables(cells: Sequence[Cell]) -> list[RawTable]:
    """Tables of all widths, each from the first cell that it can begin with; none of a log."""
    if len(cells) > _MOST_CELLS:
        return []
    roles = [meaning_of(text).role if _is_name(text) else "" for _, text in cells]
    counts = [at for at, role in enumerate(roles) if role in ("gpus", "nodes")]
    found = []
    for width in range(_FEWEST_COLUMNS, _MOST_COLUMNS + 1):
        for start in sorted({at for count in counts for at in range(max(0, count - width + 1), count + 1)}):
            own = roles[start : start + width]
            if all(own) and {*own} & {*MEASURED, *STATED} and (rows := _rows(cells, start, width, own)):
                header = tuple(text for _, text in cells[start : start + width])
                found.append(RawTable(cells[start][0], header, tuple(rows)))
                break
    return found


def _is_name(text: str) -> bool:
    """Whether a cell may be a header."""
    named = len(text) <= _LONGEST and "|" not in text and re.search(r"[^\W\d_]", text)
    return bool(named) and not BEGINS_WITH_NUMBER.match(plain(text))


def _rows(cells: Sequence[Cell], start: int, width: int, roles: Sequence[str]) -> list[Row]:
    """The rows below a header, up to the first with other kinds of cells than the first row; none if too few."""
    rows: list[Row] = []
    kinds: list[bool | None] = [None] * width
    for at in range(start + width, len(cells) - width + 1, width):
        row = [text for _, text in cells[at : at + width]]
        own = [None if is_blank(text) else bool(BEGINS_WITH_NUMBER.match(plain(text))) for text in row]
        alike = all(None in (kind, known) or kind == known for kind, known in zip(own, kinds, strict=True))
        if not alike or not all(map(_fits, row, roles)):
            break
        kinds = [known if kind is None else kind for kind, known in zip(own, kinds, strict=True)]
        rows.append((cells[at][0], tuple(row)))
    return rows if len(rows) >= _FEWEST_ROWS else []


def _fits(text: str, role: str) -> bool:
    """Whether a cell may be below a header of this role."""
    if len(text) > _LONGEST or _NO_CELL.match(text):
        return False
    if role in ("gpus", "nodes"):
        return is_number(text) or is_count(text)
    return role not in MEASURED or is_blank(text) or bool(BEGINS_WITH_NUMBER.match(plain(text)))
