"""A log in CSV or TSV: generic, Lightning's `metrics.csv` and exports of Weights & Biases.

The delimiter is the one of comma, semicolon, tab and bar that the header has most of. A run per file, unless
columns such as `run`, `gpus` or `variant` tell several apart.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.console.progress import is_bar
from scalestudy.importers.logs.lines import HEAD, head_of, numbered_lines, text_of
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.quantities import meaning_of
from scalestudy.importers.logs.tabular.columns import LOOKED_AT, Columns
from scalestudy.importers.logs.tabular.csv_columns import read_regular
from scalestudy.importers.logs.tabular.table import logs_from, logs_of
from scalestudy.importers.logs.tabular.values import value_of
from scalestudy.importers.logs.tabular.widths import Widths

KIND, LIGHTNING, WANDB = "CSV log", "Lightning metrics.csv", "CSV export of Weights & Biases"
DELIMITERS = ",;\t|"
MOST_COLUMNS = 20_000
MOST_OF_A_CELL = 200
"""Lines of a cell in quotes."""
SHOWN_BY = 20
"""First lines that show whether a file is a table."""


def recognise(head: bytes) -> str:
    """Return the kind of a table; '' if the first line is not the header of one."""
    if b"\0" in head:
        return ""
    text = head.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")][:SHOWN_BY]
    if any(is_bar(line.encode("latin-1", "replace")) for line in lines):
        return ""
    if len(lines) < 2 - (len(head) == HEAD) or lines[0].lstrip().startswith(("{", "[", ":::", "DLLL")):
        return ""
    delimiter = _delimiter(lines[0])
    try:
        names = _cells(lines[0], delimiter)
    except csv.Error:
        return ""
    if len(names) > MOST_COLUMNS:
        return KIND  # refused when it is read
    read = {
        at: meaning.quantity
        for at, name in enumerate(names)
        if not name.strip()[:1].isdigit()
        and (meaning := meaning_of(name))
        and meaning.quantity in ("step_time_s", "work_per_s", "clock_s", "step")
    }
    if len(names) < 2 or not read or _are_texts(lines[1:], delimiter, read):
        return ""
    if {"_step", "_timestamp", "_runtime"} & {name.strip() for name in names}:
        return WANDB
    return LIGHTNING if {"epoch", "step"} <= set(names) and delimiter == "," else KIND


def _are_texts(lines: list[str], delimiter: str, read: dict[int, str]) -> bool:
    """Whether the cells of all columns with a time or a throughput are mostly texts.

    Then the first line is that of a console log with the delimiter in it. read: place of a column -> its quantity.
    """
    texts, cells = dict.fromkeys(read, 0), dict.fromkeys(read, 0)
    for line in lines:
        try:
            row = _cells(line, delimiter)
        except csv.Error:
            continue
        for at, quantity in read.items():
            cell = row[at].strip() if at < len(row) else ""
            cells[at] += bool(cell)
            try:
                value_of(cell, quantity, 1.0, comma="," in cell)
            except ValueError:
                texts[at] += 1
    measured = [at for at, quantity in read.items() if quantity != "step"] or list(read)
    return all(texts[at] > cells[at] / 2 for at in measured)


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the runs of a table. Raises UserError that names the line if many rows have too many cells."""
    lines = ((number, line) for number, line in numbered_lines(path, whole=False) if line.strip())
    first = next(((number, line) for number, line in lines if not line.startswith(b"#")), None)
    if first is None:
        raise UserError(f"{path}: has no header")
    header = text_of(path, *first).rstrip("\r\n")
    delimiter = _delimiter(header)
    try:
        names = [name.strip() for name in _cells(header, delimiter)]
    except csv.Error as error:
        raise UserError(f"{path}, line {first[0]}: not the header of a table ({error})") from None
    if len(names) > MOST_COLUMNS:
        raise UserError(f"{path}, line {first[0]}: {len(names)} columns; a log has at most {MOST_COLUMNS}")
    header_names, names = names, _of_rows(names, path, first[0], delimiter)
    rows = _first_rows(path, first[0], names, delimiter)
    columns = Columns.of(path, names, given, rows, semicolons=delimiter == ";")
    regular = None
    for over_lines in (False, True) if not _goes_over_lines(path) else (True,):
        regular = regular or read_regular(columns, names, delimiter, header_line=first[0], over_lines=over_lines)
    if regular is not None and regular.rows:
        logs = logs_from(kind, columns, regular.rows, remarks=regular.remarks, bad=regular.bad)
    else:
        widths = Widths(path, len(names))
        logs = logs_of(kind, columns, _rows(path, lines, names, delimiter, widths))
        logs[0].remarks += widths.remarks()
    if empty := header_names[len(names) :]:
        logs[0].remarks.append(f"columns without cells: {', '.join(empty)}")
    return logs


def _goes_over_lines(path: Path) -> bool:
    """Whether one of the first lines has a quote that does not end on it."""
    return any(line.count(b'"') % 2 for line in head_of(path).splitlines()[:LOOKED_AT])


def _first_rows(path: Path, header: int, names: list[str], delimiter: str) -> list[dict[str, Any]]:
    """The rows below the header that show what its columns leave open."""
    below = ((number, line) for number, line in numbered_lines(path, whole=False) if number > header)
    try:
        kept = _rows(path, below, names, delimiter, Widths(path, len(names)))
        return [row for _, row in islice(kept, LOOKED_AT)]
    except UserError:
        return []  # said when all rows are read


def _of_rows(names: list[str], path: Path, header: int, delimiter: str) -> list[str]:
    """The names of the columns that rows have: more if all end with delimiters and the header does not, fewer if
    none has cells of the last ones."""
    below = (line for number, line in numbered_lines(path, whole=False) if number > header and line.strip())
    rows = [
        line.decode("latin-1").rstrip("\r\n") for line in islice(below, LOOKED_AT) if line[:1] not in (b"#", b"")
    ]
    widths = {row.count(delimiter) + 1 for row in rows if '"' not in row}
    if len(widths) != 1 or any('"' in row for row in rows):
        return names
    (width,) = widths
    more = width - len(names)
    if more > 0 and all(row.endswith(more * delimiter) for row in rows):
        return names + [f"unnamed {number}" for number in range(1, more + 1)]
    return names[:width] if 1 < width < len(names) else names


def _rows(
    path: Path, lines: Iterator[tuple[int, bytes]], names: list[str], delimiter: str, widths: Widths
) -> Iterator[tuple[int, dict[str, Any]]]:
    kept = 0
    for number, line in _whole_rows(lines, delimiter.encode()):
        if line.startswith(b"#"):
            continue
        if b'"' in line:
            try:
                cells = _cells(text_of(path, number, line).rstrip("\r\n"), delimiter)
            except csv.Error as error:
                raise UserError(f"{path}, line {number}: not a row of a table ({error})") from None
        else:
            text = line.decode("utf-8", "replace") if line.isascii() else text_of(path, number, line)
            cells = text.rstrip("\r\n").split(delimiter)
        if len(cells) != len(names):
            widths.add(number, len(cells))
            continue
        kept += 1
        yield number, dict(zip(names, cells, strict=True))
    widths.check(kept)


def _whole_rows(lines: Iterator[tuple[int, bytes]], delimiter: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, row): a cell in quotes goes on until they end, if they end soon."""
    waiting: list[tuple[int, bytes]] = []
    while first := waiting.pop(0) if waiting else next(lines, None):
        number, line = first
        if line.count(b'"') % 2 and (line.startswith(b'"') or delimiter + b'"' in line):
            more = waiting + list(islice(lines, MOST_OF_A_CELL - len(waiting)))
            at = next((at for at, (_, other) in enumerate(more) if other.count(b'"') % 2), None)
            waiting = more if at is None else more[at + 1 :]
            line = line if at is None else b"".join([line, *(other for _, other in more[: at + 1])])
        yield number, line


def names_of(header: str) -> list[str]:
    """The cells of a line, by the delimiter that it has most of; none if it is damaged."""
    try:
        return _cells(header, _delimiter(header))
    except csv.Error:
        return []


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader(line.splitlines(keepends=True), delimiter=delimiter), [])
