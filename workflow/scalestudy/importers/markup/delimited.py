"""Reads a text with delimiters, such as CSV, as one table."""

from __future__ import annotations

import csv
import io
import re

from scalestudy.importers.raw import RawTable, words_of

LONGEST_CELL = 131_072
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""A comma between thousands, which separates no cells where spaces do, like one in brackets."""
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_MOST_WORDS, _MOST_ON_AVERAGE = 20, 6
"""Words of a header, and of the headers of a line. A sentence may have more."""
_OF_A_TEXT = re.compile(r"\s*(?:#{2,6}|[-*+]) ")
"""Beginning of a heading or of an item of a list, whose commas separate no cells."""
_OF_THOUSANDS = re.compile(r"[^,;\t|]*[^\W\d_][^,;\t|]*[:=]\s*\d{1,3}(?:,\d{3})+(?![\d,]).{0,20}")
"""A name with a number that has commas between its thousands: `1 GPU: 1,460`."""
_SPACED = re.compile(r"\S\s{2,}\S")
_FIRST = 50
_FEW = 4
"""Rows from which their numbers of cells are compared."""


def delimited_tables(text: str) -> list[RawTable]:
    """Return the only table of a text with delimiters. Lines above it that have no delimiter are its headings."""
    lines = text.splitlines()
    if sum(map(bool, map(_OF_THOUSANDS.fullmatch, lines))) > 1:
        return []  # a list of names with one number each
    delimiter = delimiter_of(lines)
    if _is_spaced_below(lines):
        split = _spaced(lines)
    elif delimiter == "  ":
        split = [(place + 1, tuple(re.split(r"\s{2,}|\t", line.strip()))) for place, line in enumerate(lines)]
    else:
        csv.field_size_limit(LONGEST_CELL)  # of the process, so another part of it may have set it
        reader = csv.reader(io.StringIO(_with_dittos(text, delimiter), newline=""), delimiter=delimiter)
        split, before = [], 0
        for row in reader:
            split.append((before + 1, tuple(cell.strip() for cell in row)))
            before = reader.line_num
    rows = [(line, cells) for line, cells in split if any(cells)]
    if not _is_even(rows):
        return []
    widest = max((len(cells) for _, cells in rows), default=0)
    start = next((place for place, (_, cells) in enumerate(rows) if len(cells) > 1 or widest < 2), 0)
    if not rows:
        return []
    if _OF_A_TEXT.match(lines[rows[start][0] - 1]):
        return []
    if len(rows) > start + 1 and words_of(rows[start][1]) == words_of(rows[start + 1][1]):
        return []  # no header: a list of measurements
    if any(_is_sentence(cells) for _, cells in rows[start : start + 2]):
        return []
    above = tuple(" ".join(cells).lstrip("# ") for _, cells in rows[:start])
    return [RawTable(rows[start][0], rows[start][1], tuple(rows[start + 1 :]), above)]


def _is_sentence(cells: tuple[str, ...]) -> bool:
    """Whether a line has more words than cells of a table have, or ends with a full stop behind several."""
    words = [len(cell.split()) for cell in cells]
    ends = bool(re.search(r"[a-z][.?!]$", cells[-1])) and sum(words) > _MOST_ON_AVERAGE
    return ends or max(words) > _MOST_WORDS or sum(words) > _MOST_ON_AVERAGE * len(words)


def _with_dittos(text: str, delimiter: str) -> str:
    """The text with a ditto mark for each quotation mark that is a cell of its own, in lines with one too many."""
    own = re.compile(rf'(?:^|(?<={re.escape(delimiter)})) ?" ?(?={re.escape(delimiter)}|$)')
    lines = [own.sub("''", line) if line.count('"') % 2 else line for line in text.splitlines()]
    return "\n".join(lines) + "\n" if lines else text


def _is_spaced_below(lines: list[str]) -> bool:
    """Whether the first line has commas, and the others as many cells with spaces between them."""
    first, *others = [line for line in lines[:_FIRST] if line.strip()] or [""]
    wide = first.count(",") + 1
    return wide > 1 and len(others) > 1 and all("," not in one and len(one.split()) == wide for one in others)


def _spaced(lines: list[str]) -> list[tuple[int, tuple[str, ...]]]:
    """The cells of such lines, with their numbers."""
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    names = next(csv.reader([filled[0][1]]))
    return [(filled[0][0], tuple(map(str.strip, names))), *((at, tuple(line.split())) for at, line in filled[1:])]


def _is_even(rows: list[tuple[int, tuple[str, ...]]]) -> bool:
    """Whether lines have as many cells as others have, and numbers, so that they are not those of a text."""
    numbers = [any(re.match(r"\W*\d", cell) for cell in cells) for _, cells in rows[1:_FIRST]]
    if len(rows) >= _FEW and sum(numbers) < len(numbers) * 0.5:
        return False
    counts = [len(cells) for _, cells in rows[:_FIRST]]
    counts = counts[next((place for place, count in enumerate(counts) if count > 1), 0) :]
    most = max(counts, key=counts.count, default=0)
    return len(counts) < _FEW or (counts.count(most) >= len(counts) * 0.5 and most == counts[0])


def starts_with_header(lines: list[str]) -> bool:
    """Return whether most lines have the delimiter of the first, as in a file of CSV."""
    filled = [line for line in lines[:50] if line.strip()]
    delimiter = delimiter_of(lines)
    return (
        bool(filled)
        and delimiter in filled[0]
        and not _OF_A_TEXT.match(filled[0])
        and all(delimiter in line for line in filled[:3])
    )


def has_even_columns(lines: list[str]) -> bool:
    """Return whether all lines have as many cells as the first one, three or more, which are names there."""
    filled = [line for line in lines[:_FIRST] if line.strip()]
    delimiter = delimiter_of(lines)
    if len(filled) < 2 or delimiter == "  ":
        return False
    header, *rows = csv.reader(filled, delimiter=delimiter)
    named = all(cell.strip() and not re.search(r"^\W*\d|[=:]", cell) for cell in header)
    return len(header) > 2 and named and all(len(row) == len(header) for row in rows)


def delimiter_of(lines: list[str]) -> str:
    """Return the delimiter: the first of tab, semicolon, bar and comma that every line of the beginning has."""
    first = [line for line in lines[:50] if line.strip()]
    apart = any(map(_SPACED.search, first))
    bare = [_IN_BRACKETS.sub("", _THOUSANDS.sub("", line)) for line in first] if apart else first
    for delimiter in ("\t", ";", "|", ","):
        having = [line for line in (bare if delimiter == "," else first) if delimiter in line]
        if having and len(having) >= max(1, len(first) * 0.6):
            return delimiter
    if any("," in line for line in bare):
        return ","
    spaced = [line for line in first if _SPACED.search(line)]
    return "  " if len(spaced) > 1 else ","
