"""Finds the tables in a text: CSV, Markdown, grids, HTML, LaTeX, reStructuredText, and columns without markup."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.aligned import aligned_tables, without_boxes
from scalestudy.importers.asciidoc import asciidoc_tables
from scalestudy.importers.headers import meaning_of
from scalestudy.importers.html_tables import html_tables
from scalestudy.importers.latex import latex_tables
from scalestudy.importers.listed import listed_tables
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable, tidied
from scalestudy.importers.restructured import restructured_tables
from scalestudy.study.named_file import nearest, read_named

MOST_BYTES = 16 * 2**20
"""Largest size of a file with tables."""
MOST_COLUMNS = 1000
MOST_ROWS = 20_000
LONGEST_CELL = 131_072
LONGEST_CAPTION = 200
MOST_HEADER_LINES = 4
LONGEST_RULE = 40_000
"""Characters of a rule below a header; one of more columns than a table may have is none."""
_RULE = re.compile(r"\s*[|+]?\s*:?[-=]+:?\s*([|+]\s*:?[-=]+:?\s*)*[|+]?\s*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<heading>.+?)\s*#*\s*")
_PIPE = re.compile(r"(?<!\\)\|")


def read_tables(path: Path) -> list[RawTable]:
    """Return the tables of a file. Raises UserError if it cannot be read, is too large or is not text."""
    try:
        content = read_named(path, most=MOST_BYTES + 1)
        text = decoded(content)
        tables = find_tables(text)
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or 'unreadable').lower()}{nearest(path)}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as a table: {error}") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{path}: larger than {MOST_BYTES // 2**20} MiB, which is too large for a published table")
    for table in tables:
        if len(table.header) > MOST_COLUMNS:
            columns = f"{len(table.header)} columns; a table of scaling has at most {MOST_COLUMNS}"
            raise UserError(f"{path}, line {table.line}: {columns}")
        if len(table.rows) > MOST_ROWS:
            rows = f"{len(table.rows)} rows; a table of scaling has at most {MOST_ROWS}"
            raise UserError(f"{path}, line {table.line}: {rows}")
    return tables


def decoded(content: bytes) -> str:
    """Return the text of UTF-8, or of UTF-16 with a byte order mark. Raises UnicodeDecodeError."""
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = content.decode("utf-16" if wide else "utf-8-sig")
    if "\0" in text:
        raise UnicodeDecodeError("utf-8", content, content.find(0), content.find(0) + 1, "a NUL is not text")
    return text


def find_tables(text: str) -> list[RawTable]:
    """Return all tables of Markdown, grids, HTML, LaTeX and reStructuredText, and those without markup.

    A text without any of these is one table with delimiters.
    """
    text = without_boxes(_without_comments(text))
    lines = text.splitlines()
    ascii_doc = list(asciidoc_tables(lines))
    for table, end in ascii_doc:
        lines[table.line - 2 : end] = [""] * (end - table.line + 2)
    tables = [*(table for table, _ in ascii_doc), *_piped(lines), *html_tables(text), *latex_tables(text)]
    tables += restructured_tables(lines)
    marked = bool(tables) or "<table" in text.lower()
    if not marked and _delimiter(lines) != "  " and _starts_with_header(lines) and not listed_tables(lines[:200]):
        return [tidied(table) for table in _delimited(text)]
    taken = {line for table in tables for line in (table.line, *(row for row, _ in table.rows))}
    tables += aligned_tables(lines, taken, only=not marked)
    if not marked and (listed := listed_tables(lines)) and not any(_has_devices(table) for table in tables):
        tables = listed
    if not tables and not marked:
        tables = _delimited(text)
    return [tidied(table) for table in sorted(tables, key=lambda table: table.line)]


def _has_devices(table: RawTable) -> bool:
    """Whether a table without markup has devices and a measurement, and rows for two numbers of devices."""
    roles = {meaning_of(name).role for name in table.header}
    return bool(roles & {"gpus", "nodes"}) and bool(roles & {*MEASURED, *STATED}) and len(table.rows) > 1


def _starts_with_header(lines: list[str]) -> bool:
    """Whether most lines have the delimiter of the first, as in a file of CSV."""
    filled = [line for line in lines[:50] if line.strip()]
    delimiter = _delimiter(lines)
    return bool(filled) and delimiter in filled[0] and all(delimiter in line for line in filled[:3])


def _without_comments(text: str) -> str:
    """The text without HTML comments; its lines keep their numbers."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 3
    return "".join((*kept, text[at:]))


def _piped(lines: list[str]) -> Iterator[RawTable]:
    """Tables whose cells are between bars, with a rule below the header."""
    headings: list[tuple[int, str]] = []
    above = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        if heading := _HEADING.fullmatch(line[:500]):
            level = len(line) - len(line.lstrip("# "))
            headings = [(above, words) for above, words in headings if above < level]
            headings.append((level, heading["heading"]))
            above = ""
        header = _header(lines, number)
        if not header:
            above = line.strip() if line.strip() and not heading and not is_rule(line) else above
            number += 1
            continue
        end, rows = number + header, []
        while end < len(lines) and ("|" in lines[end] or is_rule(lines[end])) and lines[end].strip():
            rows.append((end + 1, () if is_rule(lines[end]) else _cells(lines[end])))
            end += 1
        names = tuple(words for _, words in headings)
        caption = above.strip("*:> ") if len(above) <= LONGEST_CAPTION else ""
        whole = _joined([_cells(lines[at]) for at in range(number, number + header)])
        yield RawTable(number + 1, whole, tuple(_records(rows)), names, caption)
        number, above = end, ""


def _header(lines: list[str], start: int) -> int:
    """The number of lines of the header that begins in a line; 0 if none does. Only a grid has several."""
    most = MOST_HEADER_LINES if start and is_rule(lines[start - 1]) and "+" in lines[start - 1] else 1
    for count in range(1, most + 1):
        line = lines[start + count - 1] if start + count - 1 < len(lines) else ""
        if "|" not in line or is_rule(line):
            return 0
        below = lines[start + count] if start + count < len(lines) else ""
        if is_rule(below) and set("|+") & set(below):
            return count
    return 0


def _records(rows: list[tuple[int, tuple[str, ...]]]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Rows of a table; between the rules of a grid, several lines may be one row. A rule is an empty tuple."""
    groups: list[list[tuple[int, tuple[str, ...]]]] = [[]]
    for number, cells in rows:
        if cells:
            groups[-1].append((number, cells))
        elif groups[-1]:
            groups.append([])
    groups = [group for group in groups if group]
    for group in groups:
        if len(groups) > 1 and len(group) > 1 and not all(cells and cells[0] for _, cells in group):
            yield group[0][0], _joined([cells for _, cells in group])
        else:
            yield from group


def _joined(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The texts of several lines, cell by cell."""
    if len(rows) == 1:
        return rows[0]
    width = max(map(len, rows))
    full = [(*row, *[""] * (width - len(row))) for row in rows]
    return tuple(" ".join(filter(None, cells)) for cells in zip(*full, strict=True))


def is_rule(line: str) -> bool:
    text = line.strip()
    return (
        0 < len(text) <= LONGEST_RULE
        and set(text) <= set("|+-=: \t")
        and bool(set(text) & set("-="))
        and bool(_RULE.fullmatch(text))
    )


def _cells(line: str) -> tuple[str, ...]:
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return tuple(cell.strip().replace("\\|", "|") for cell in _PIPE.split(line))


def _delimited(text: str) -> list[RawTable]:
    """The only table of a text with delimiters. Lines above it that have no delimiter are its headings."""
    lines = text.splitlines()
    delimiter = _delimiter(lines)
    if delimiter == "  ":
        split = [(place + 1, tuple(re.split(r"\s{2,}|\t", line.strip()))) for place, line in enumerate(lines)]
    else:
        csv.field_size_limit(LONGEST_CELL)  # of the process, so another part of it may have set it
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        split, before = [], 0
        for row in reader:
            split.append((before + 1, tuple(cell.strip() for cell in row)))
            before = reader.line_num
    rows = [(line, cells) for line, cells in split if any(cells)]
    widest = max((len(cells) for _, cells in rows), default=0)
    start = next((place for place, (_, cells) in enumerate(rows) if len(cells) > 1 or widest < 2), 0)
    if not rows:
        return []
    above = tuple(" ".join(cells).lstrip("# ") for _, cells in rows[:start])
    return [RawTable(rows[start][0], rows[start][1], tuple(rows[start + 1 :]), above)]


def _delimiter(lines: list[str]) -> str:
    """The delimiter: the first of tab, semicolon, bar and comma that every line of the beginning has."""
    first = [line for line in lines[:50] if line.strip()]
    for delimiter in ("\t", ";", "|", ","):
        having = [line for line in first if delimiter in line]
        if having and len(having) >= max(1, len(first) * 0.6):
            return delimiter
    if any("," in line for line in first):
        return ","
    spaced = [line for line in first if re.search(r"\S\s{2,}\S", line)]
    return "  " if len(spaced) > 1 else ","
