"""Finds the tables in a text: CSV with any usual delimiter, Markdown, grids of text and HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest, read_named

MOST_BYTES = 16 * 2**20
"""Largest size of a file with tables."""
MOST_COLUMNS = 1000
MOST_ROWS = 20_000
LONGEST_CELL = 131_072
LONGEST_RULE = 40_000
"""Characters of a rule below a header; one of more columns than a table may have is none."""
_RULE = re.compile(r"\s*[|+]?\s*:?[-=]+:?\s*([|+]\s*:?[-=]+:?\s*)*[|+]?\s*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<heading>.+?)\s*#*\s*")
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class RawTable:
    """A table as text: its header, its rows with their lines in the file, and what stands above it."""

    line: int
    """Line of the header; the first line of a file is 1."""
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    headings: tuple[str, ...] = ()
    """Headings above the table, outermost first."""


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
    """Return all tables of Markdown, of grids and of HTML; a text without any is one table with delimiters."""
    text = _without_comments(text)
    tables = [*_piped(text.splitlines()), *_html(text)]
    if tables or "<table" in text.lower():
        return sorted(tables, key=lambda table: table.line)
    return _delimited(text)


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
    number = 0
    while number < len(lines):
        line = lines[number]
        if heading := _HEADING.fullmatch(line[:500]):
            level = len(line) - len(line.lstrip("# "))
            headings = [(above, words) for above, words in headings if above < level]
            headings.append((level, heading["heading"]))
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if "|" not in line or is_rule(line) or not is_rule(below) or not set("|+") & set(below):
            number += 1
            continue
        end, rows = number + 1, []
        while end < len(lines) and ("|" in lines[end] or is_rule(lines[end])) and lines[end].strip():
            if not is_rule(lines[end]):
                rows.append((end + 1, _cells(lines[end])))
            end += 1
        yield RawTable(number + 1, _cells(line), tuple(rows), tuple(words for _, words in headings))
        number = end


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


class _Html(HTMLParser):
    """Collects rows of cells of every table."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[tuple[int, list[str]]]] = []
        self.cell: list[str] | None = None
        self.span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append((self.getpos()[0], []))
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            span = dict(attrs).get("colspan") or "1"
            self.cell, self.span = [], min(int(span), MOST_COLUMNS) if span.isdecimal() else 1

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None and self.tables[-1]:
            self.tables[-1][-1][1].extend([" ".join("".join(self.cell).split())] * self.span)
            self.cell = None


def _html(text: str) -> Iterable[RawTable]:
    if "<table" not in text.lower():
        return
    parser = _Html()
    parser.feed(text)
    for rows in parser.tables:
        filled = [(line, tuple(cells)) for line, cells in rows if cells]
        if filled:
            yield RawTable(filled[0][0], filled[0][1], tuple(filled[1:]))
