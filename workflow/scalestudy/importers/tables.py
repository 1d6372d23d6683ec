"""Finds the tables in a text: asks each reader of markup/ in turn, and gives every table one line of headers."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.cells.foreign_times import with_times_in_english
from scalestudy.importers.devices.defined_headers import with_defined_headers
from scalestudy.importers.devices.in_headings import with_devices_of_strategies
from scalestudy.importers.devices.legends import with_legend
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.aligned import aligned_tables, label_devices, table_names_devices
from scalestudy.importers.markup.arrays import array_tables
from scalestudy.importers.markup.asciidoc import asciidoc_tables
from scalestudy.importers.markup.bare_lists import bare_lists, with_bare_numbers
from scalestudy.importers.markup.benchmarks import benchmark_tables
from scalestudy.importers.markup.beside import with_sentences_beside
from scalestudy.importers.markup.boxes import without_boxes
from scalestudy.importers.markup.delimited import (
    delimited_tables,
    delimiter_of,
    has_even_columns,
    starts_with_header,
)
from scalestudy.importers.markup.footnotes import with_footnotes, without_ideal, without_projected
from scalestudy.importers.markup.grids import grid_tables
from scalestudy.importers.markup.headed import headed_lists
from scalestudy.importers.markup.headed_runs import headed_runs
from scalestudy.importers.markup.html_tables import html_tables
from scalestudy.importers.markup.latex import latex_tables
from scalestudy.importers.markup.listed import listed_tables
from scalestudy.importers.markup.mentioned import mentioned_tables
from scalestudy.importers.markup.naming import names_devices, with_decimal_points
from scalestudy.importers.markup.notebooks import notebook_in, tables_of_notebook
from scalestudy.importers.markup.phrased import sentence_tables
from scalestudy.importers.markup.piped import LONGEST_CAPTION, piped_tables
from scalestudy.importers.markup.records import record_tables
from scalestudy.importers.markup.restructured import restructured_tables
from scalestudy.importers.markup.ruled import ruled_tables
from scalestudy.importers.markup.sectioned import logged_tables, sectioned_tables
from scalestudy.importers.markup.signs_of_lines import without_signs_of_lines
from scalestudy.importers.markup.stacked_cells import stacked_tables
from scalestudy.importers.markup.text_around import with_text_around
from scalestudy.importers.markup.wiki import jira_tables, mediawiki_tables
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.raw import UNSAID, RawTable
from scalestudy.importers.shape.counts_in_cells import with_counts_in_cells
from scalestudy.importers.shape.marks import with_marks_of_labels
from scalestudy.importers.shape.named_values import with_named_values
from scalestudy.importers.shape.one_header import tidied
from scalestudy.importers.unopened import why_unopened
from scalestudy.study.named_file import nearest, not_utf8, read_named

MOST_BYTES = 16 * 2**20
"""Largest size of a file with tables."""
MOST_TEXT = 2**19
"""Characters of a text up to which its paragraphs and sections are read; a longer one is a log."""
MOST_COLUMNS = 1000
MOST_ROWS = 20_000
_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")
_CLOCKED = re.compile(
    r"(?<![\d.:])[\d.:]{1,12}s user [\d.:]{1,12}s system \d{1,6}% cpu (\d{1,8}\.\d{1,6}) total\b"
)
"""What zsh prints for `time`, of which the last number is that of the clock."""
_OF_CSH = re.compile(
    r"\b[\d.]{1,12}u\s+[\d.]{1,12}s\s+(\d{1,4}:\d\d(?::\d\d)?(?:\.\d{1,6})?)(?:\s+[\d.]{1,8}%.*)?"
)
"""What csh prints for `time`, of which the third time is that of the clock."""
_BULLET = re.compile(r"^(\s*)[-*\u2022] (?=\d{1,6} ?(?:\t|  )\s*\d)", re.MULTILINE)
"""The sign of a list in front of a row: - 4   53.2."""
_HOURS = re.compile(r"(\d ?h(?:ours?|rs?)?),( [0-5]?\d ?m(?:in|\b))")
"""The comma behind the hours of a duration: 25h, 3 min."""
_FEW = 3
_TAGS = re.compile(r"\s*(?:</?\w+[^<>]{0,99}>\s*){1,9}")
_LONGEST_UNIT = 50
"""Characters of a quantity with its unit below a table."""
_NEAR_ABOVE = 5
"""Lines above a table in which its title may be."""
_ABOVE_UNIT = 80
"""Lines above a table, also of other tables, after which nothing is its unit."""
_NEAR_UNIT = 8
"""Lines of text above a table in which its unit may be."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*\s*")
_UNIT = re.compile(
    r"\W*(?:units?|\u5355\u4f4d|\u55ae\u4f4d|\u5358\u4f4d|\ub2e8\uc704) ?[:\uff1a]\W*(?P<unit>\w[^|]{0,40}?)\W*",
    re.IGNORECASE,
)
"""A line that says the unit of a table: Unit: images/sec."""
_NO_TITLE = re.compile(r"[\W_]*|\.\. .*|</?[a-z]\w*\b.*>|:[\w-]+:.*|.*[|&\t].*|.*\S {2,}\S.*")
"""A rule, a directive, a bare tag or a row of another table."""
_BELOW = re.compile(
    r"(?:[*_]{0,3}(?:table|tab\.|caption|:)[ \d.:*_-].*|\*[^*\s][^*]*\*|_[^_\s][^_]*_|"
    r"\([^()]*\)\W*|\d{1,5} [a-z]+ (?:per|on each) [a-z]+\W*|"
    r"[^|]{0,60}\b(?:batch[^|]{0,40} (?:per|global|on each)|(?:per|global|total)[- ][^|]{0,20}batch)\b[^|]{0,60}|"
    r"(?:[\w-]+ ){0,3}(?:throughputs?|times?|speeds?|performance) ?[(\[][^()\[\]|]{1,30}[)\]][^|]{0,80}|"
    r"[^|]*\b(?:throughputs?|[a-z]+/s(?:ec)?|per second)\b[^|.]* per [a-z]+\W*|"
    r"\W*(?:note:? )?(?:all |the )?(?:numbers|values|figures|results|units?|times|throughputs?|speeds?)"
    r"(?: (?:are|is|were|in|as)\b|:).*)",
    re.IGNORECASE,
)
"""A line that may be the caption of the table above it."""


def read_tables(path: Path) -> list[RawTable]:
    """Return the tables of a file. Raises UserError if it cannot be read, is too large or is not text."""
    try:
        content = read_named(path, most=MOST_BYTES + 1)
        if why := why_unopened(content):
            raise UserError(f"{path}: {why}")
        if len(content) > MOST_BYTES:
            raise UserError(f"{path}: larger than {MOST_BYTES // 2**20} MiB, which is too large for a table")
        if not (text := decoded(content)).strip():
            raise UserError(f"{path}: is empty; name a file with a table of scaling")
        tables = find_tables(text)
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or 'unreadable').lower()}{nearest(path)}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: {_undecoded(error)}") from None
    except csv.Error as error:
        raise UserError(f"{path}: cannot be read as a table: {error}") from None
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


def _undecoded(error: UnicodeDecodeError) -> str:
    if error.object[error.start] == 0:
        line = 1 + error.object.count(b"\n", 0, error.start)
        return f"line {line} has a NUL; remove it"
    return not_utf8(error)


def find_tables(text: str) -> list[RawTable]:
    """Return all tables of a text, in its order. That of a notebook is its markdown and its outputs."""
    notebook = notebook_in(text)
    return _of_text(text) if notebook is None else tables_of_notebook(notebook, _of_text)


def _of_text(text: str) -> list[RawTable]:
    """All tables of a text, in its order.

    Tables with markup come first. Without any, the whole text may be one table with delimiters, and then columns
    of plain text and lists are looked for.
    """
    text = without_signs_of_lines(without_boxes(text))
    text = _HOURS.sub(r"\1\2", _OF_CSH.sub(r"\1", _CLOCKED.sub(r"\1 s", text)))
    text = _BULLET.sub(r"\1  ", text)
    lines = text.splitlines()
    printed = list(lines)
    tables = list(_taken_out(lines))
    tables += [*piped_tables(lines), *html_tables(text), *latex_tables(text), *restructured_tables(lines)]
    tables += (
        [*record_tables(text), *array_tables(lines), *headed_lists(lines), *benchmark_tables(lines)]
        if not tables
        else ()
    )
    marked = bool(tables) or "<table" in text.lower()
    lines = lines if marked else with_decimal_points(lines)
    text = text if marked else "\n".join(lines)
    alone = not marked and delimiter_of(lines) != "  " and starts_with_header(lines)
    if alone and (has_even_columns(lines) or not listed_tables(lines[:200])) and (found := delimited_tables(text)):
        said = _in_text(lines) if not any(map(table_names_devices, found)) else []
        return [_tidied(table) for table in said or found]
    taken = {line for table in tables for line in table.lines}
    ruled = [table for table in ruled_tables(lines, taken) if table_names_devices(table)]
    taken |= {line for table in ruled for line in table.lines}
    tables += ruled
    tables += aligned_tables(lines, taken, only=not marked)
    if marked and not any(map(table_names_devices, tables)):
        tables += listed_tables(_without_lines(lines, taken))
    if not marked and (listed := listed_tables(lines)) and not any(_has_devices(table) for table in tables):
        tables = [with_bare_numbers(table, lines) for table in listed]
    short = len(text) <= MOST_TEXT
    if short and not marked and (sections := sectioned_tables(lines)):
        of_sizes = any(UNSAID in table.header for table in sections) and not any(map(_has_devices, tables))
        tables = sections if of_sizes or _rows_of(sections) > _rows_of(tables) else tables
    if short and not marked and not any(_has_devices(table) or names_devices(table.caption) for table in tables):
        tables = logged_tables(lines) or tables
    if not tables and not marked:
        delimited = delimited_tables(text)
        one_column = all(len(table.header) == 1 for table in delimited)
        tables = [*_in_fences(lines)] or (bare_lists(lines) if one_column else []) or delimited
        unknown = short and not any(map(table_names_devices, tables))
        tables = (stacked_tables(lines) or headed_runs(lines) or _in_text(lines) or tables) if unknown else tables
    tables = [
        _tidied(with_footnotes(without_projected(_with_captions(table, printed), printed), printed))
        for table in tables
    ]
    tables = [with_defined_headers(table, printed) for table in sorted(tables, key=lambda table: table.line)]
    tables = [with_legend(table, printed) for table in tables]
    tables = without_ideal(tables)
    tables = with_sentences_beside(with_text_around(tables, printed), printed)
    return [with_devices_of_strategies(table, printed) for table in tables]


def _in_fences(lines: Sequence[str]) -> Iterable[RawTable]:
    """Tables of plain text in blocks of code. The text around the blocks is not read."""
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        for table in delimited_tables("\n".join(lines[start + 1 : end])):
            named = any(meaning_of(name).role in (*MEASURED, *STATED) for name in table.header)
            if named or any(quantity_of(cell) for _, row in table.rows[:1] for cell in row):
                rows = tuple((line + start + 1, cells) for line, cells in table.rows)
                yield replace(table, line=table.line + start + 1, rows=rows)


def _tidied(table: RawTable) -> RawTable:
    """The table with one line of headers. One that is too wide to be read stays as it is."""
    return (
        tidied(with_named_values(with_marks_of_labels(with_counts_in_cells(with_times_in_english(table)))))
        if len(table.header) <= MOST_COLUMNS
        else table
    )


def _taken_out(lines: list[str]) -> Iterable[RawTable]:
    """Tables whose lines other readers would misread; their lines become empty."""
    for reader in (asciidoc_tables, jira_tables, mediawiki_tables, grid_tables):
        for table, end in list(reader(lines)):
            yield table
            lines[table.line - 1 : end] = [""] * (end - table.line + 1)
            if table.line > 1 and not lines[table.line - 2].strip(" |=+-"):
                lines[table.line - 2] = ""


def _with_captions(table: RawTable, lines: list[str]) -> RawTable:
    """The table with its caption if that is below it, after at most one empty line, or with the title above it."""
    if not table.caption and not table.headings:
        above = [line.strip() for line in lines[max(0, table.line - 1 - _NEAR_ABOVE) : table.line - 1]]
        title = next((line for line in reversed(above) if line and not _NO_TITLE.fullmatch(line)), "")
        table = replace(table, caption=title.strip("#*:> ")) if len(title) <= LONGEST_CAPTION else table
    above = lines[max(0, table.line - 1 - _ABOVE_UNIT) : table.line - 1]
    titles = [found[1] for line in above if (found := _HEADING.fullmatch(line[:LONGEST_CAPTION]))]
    table = replace(table, headings=tuple(titles[-1:])) if not table.headings else table
    said = [line for line in above if line.strip() and not line.lstrip().startswith("|")]
    near = reversed(said[-_NEAR_UNIT:])
    unit = next((found["unit"] for line in near if (found := _UNIT.fullmatch(plain(line)))), "")
    if unit and not table.opening:
        table = replace(table, opening=unit)
    last = max((line for line, _ in table.rows), default=table.line)
    below = (line.strip() for line in lines[last : last + 6] if line.strip(" |+-=") and not _TAGS.fullmatch(line))
    first, behind = next(below, ""), next(below, "")
    first = "" if behind.startswith("|") else first  # the title of another table
    if not first or len(first) > LONGEST_CAPTION or not (_BELOW.fullmatch(first) or _is_of_a_unit(first)):
        return table
    return replace(table, below=first.strip("*_: "))


def _is_of_a_unit(line: str) -> bool:
    """Whether a short line begins with a quantity and its unit, or is of a ratio: img/s, higher is better."""
    first = re.split(r"[,.;](?: |$)", line.strip("*_() "))[0]
    meaning = meaning_of(first)
    short = len(first) <= _LONGEST_UNIT and not re.search(r"\||^#|:$", line)
    return short and ((meaning.role in MEASURED and bool(meaning.unit)) or meaning.role in STATED)


def _without_lines(lines: Sequence[str], taken: Collection[int]) -> list[str]:
    """The lines of a text, of which those of its tables are empty."""
    return ["" if number in taken else line for number, line in enumerate(lines, start=1)]


def _rows_of(tables: Sequence[RawTable]) -> int:
    """The rows of tables that have devices, or of those below titles that have."""
    return sum(len(table.rows) for table in tables if table.caption or _has_devices(table))


def _in_text(lines: Sequence[str]) -> list[RawTable]:
    """The measurements of paragraphs or of sentences, whichever are more."""
    return max(
        mentioned_tables(lines), sentence_tables(lines), key=lambda tables: sum(len(one.rows) for one in tables)
    )


def _has_devices(table: RawTable) -> bool:
    """Whether a table without markup has devices and a measurement, and rows for two numbers of devices."""
    roles = {meaning_of(name).role for name in table.header}
    if label_devices(table.rows) and roles & {*MEASURED, *STATED}:
        return True
    return bool(roles & {"gpus", "nodes"}) and bool(roles & {*MEASURED, *STATED}) and len(table.rows) > 1
