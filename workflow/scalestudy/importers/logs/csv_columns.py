"""Reads the columns of a regular CSV file with Arrow, at many times the speed of reading its lines.

A file that is not regular (a comment, a row of another length, a column of ranks) is left to `csv_log.py`, which
reads line by line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import PACKED
from scalestudy.importers.logs.model import Rows
from scalestudy.importers.logs.table import (
    EMPTY,
    MOST_REMARKS,
    SHOWN,
    TELL_APART,
    VALUES,
    Columns,
    number_of,
)

BLOCK = 1 << 20
MOST_RUNS = 1000
NULLS = [form for word in EMPTY for form in (word, word.upper(), word.capitalize())]
Key = tuple[str, ...]


@dataclass
class Regular:
    """The rows of each run by its labels, and the remarks on them, as `table.logs_of` collects them."""

    rows: dict[Key, Rows] = field(default_factory=dict)
    remarks: dict[Key, list[str]] = field(default_factory=dict)
    bad: int = 0
    """Cells that are not numbers."""


def read_regular(columns: Columns, names: list[str], delimiter: str, *, header_line: int) -> Regular | None:
    """Return the rows of a file; None if it is not regular. Raises UserError if it has too many rows."""
    if len(set(names)) < len(names) or columns.name("rank") or _is_packed(columns.path):
        return None
    labels = [name for quantity in TELL_APART if (name := columns.name(quantity))]
    numbers = [quantity for quantity in VALUES if columns.name(quantity)]
    wanted = [*labels, *(columns.read[quantity][0] for quantity in numbers)]
    found = Regular()
    line = header_line
    try:
        with csv.open_csv(
            columns.path,
            read_options=csv.ReadOptions(
                block_size=BLOCK, skip_rows=header_line, column_names=names, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=delimiter, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                null_values=NULLS,
                strings_can_be_null=True,
            ),
        ) as reader:
            for batch in reader:
                _take(columns, batch, labels, numbers, line, found)
                line += batch.num_rows
    except UserError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        return None
    return found


def _take(
    columns: Columns, batch: pa.RecordBatch, labels: list[str], numbers: list[str], line: int, found: Regular
) -> None:
    """Add the rows of a batch. line: of its first row, minus one."""
    count = batch.num_rows
    said: list[tuple[int, str]] = []
    read = {"line": np.arange(line + 1.0, line + 1.0 + count)}
    for quantity in VALUES:
        read[quantity] = np.full(count, nan)
        if quantity in numbers:
            read[quantity] = _numbers(columns, quantity, batch.column(columns.read[quantity][0]), line, said)
    timed = ~(np.isnan(read["step_time_s"]) & np.isnan(read["work_per_s"]) & np.isnan(read["clock_s"]))
    for key, mine in _by_label(batch, labels):
        if key not in found.rows and len(found.rows) >= MOST_RUNS:
            raise ValueError("too many runs for this way of reading")
        rows = found.rows.setdefault(key, Rows(columns.path))
        rows.extend({name: values[mine & timed] for name, values in read.items()})
        remarks = found.remarks.setdefault(key, [])
        remarks += [text for at, text in said if mine[at]][: max(0, MOST_REMARKS - found.bad)]
    found.bad += len(said)


def _numbers(
    columns: Columns, quantity: str, column: pa.StringArray, line: int, said: list[tuple[int, str]]
) -> np.ndarray:
    """A column as numbers in our unit. said: takes (row, remark) of each cell that is not one."""
    name, meaning = columns.read[quantity]
    factor = meaning.factor or 1.0
    text = column
    if columns.decimal_comma:
        text = compute.replace_substring(compute.replace_substring(text, ".", ""), ",", ".")
    try:
        values = compute.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
        return np.where(np.isfinite(values), values, nan) * factor
    except pa.ArrowInvalid:
        made = np.full(len(column), nan)
    clock = quantity == "clock_s"
    for at, cell in enumerate(column.to_pylist()):
        try:
            made[at] = number_of(cell, clock=clock, decimal_comma=columns.decimal_comma)
        except ValueError:
            said.append((at, f"line {line + at + 1}, {name}: {cell[:SHOWN]!r} is not a number; left out"))
    return made * factor


def _by_label(batch: pa.RecordBatch, labels: list[str]) -> list[tuple[Key, np.ndarray]]:
    """(labels, which rows have them) of each run in a batch, in the order of their first rows."""
    if not labels:
        return [((), np.ones(batch.num_rows, dtype=bool))]
    coded = [batch.column(name).fill_null("").dictionary_encode() for name in labels]
    codes = np.stack([column.indices.to_numpy() for column in coded])
    distinct, first, which = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    made = []
    for at in np.argsort(first):
        words = [column.dictionary[int(code)].as_py() for column, code in zip(coded, distinct[:, at], strict=True)]
        made.append((tuple(words), which.reshape(-1) == at))
    return made


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == PACKED
