"""Reads the columns of a regular CSV file with Arrow, at many times the speed of reading its lines.

A file that is not regular (a cell that is no number, a comment, a row of another length) is left to `csv_log.py`,
which names the line.
"""

from __future__ import annotations

from math import nan
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import PACKED
from scalestudy.importers.logs.model import Rows
from scalestudy.importers.logs.table import EMPTY, TELL_APART, VALUES, Columns

BLOCK = 1 << 22
MOST_RUNS = 1000
NULLS = [form for word in EMPTY for form in (word, word.upper(), word.capitalize())]


def rows_by_label(
    columns: Columns, names: list[str], delimiter: str, *, header_line: int
) -> dict[tuple[str, ...], Rows] | None:
    """Return the rows of each run by its labels, as `table.logs_of` does; None if the file is not regular."""
    if len(set(names)) < len(names) or columns.name("rank") or _is_packed(columns.path):
        return None
    labels = [name for quantity in TELL_APART if (name := columns.name(quantity))]
    numbers = {quantity: name for quantity in VALUES if (name := columns.name(quantity))}
    types = dict.fromkeys(numbers.values(), pa.float64()) | dict.fromkeys(labels, pa.string())
    found: dict[tuple[str, ...], Rows] = {}
    line = header_line
    try:
        with csv.open_csv(
            columns.path,
            read_options=csv.ReadOptions(
                block_size=BLOCK, skip_rows=header_line, column_names=names, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=delimiter, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                include_columns=[*types],
                column_types=types,
                null_values=NULLS,
                decimal_point="," if columns.decimal_comma else ".",
            ),
        ) as reader:
            for batch in reader:
                _take(columns, batch, labels, numbers, line, found)
                line += batch.num_rows
    except UserError:  # too many rows, however they are read
        raise
    except (pa.ArrowException, OSError, ValueError):
        return None
    return found


def _take(
    columns: Columns,
    batch: pa.RecordBatch,
    labels: list[str],
    numbers: dict[str, str],
    line: int,
    found: dict[tuple[str, ...], Rows],
) -> None:
    """Add the rows of a batch. line: of its first row, minus one."""
    count = batch.num_rows
    read = {"line": np.arange(line + 1.0, line + 1.0 + count)}
    for quantity in VALUES:
        if quantity in numbers:
            values = batch.column(numbers[quantity]).to_numpy(zero_copy_only=False)
            factor = columns.read[quantity][1].factor or 1.0
            read[quantity] = np.where(np.isfinite(values), values, nan) * factor
        else:
            read[quantity] = np.full(count, nan)
    timed = ~(np.isnan(read["step_time_s"]) & np.isnan(read["work_per_s"]) & np.isnan(read["clock_s"]))
    for key, mine in _by_label(batch, labels):
        if key not in found and len(found) >= MOST_RUNS:
            raise ValueError("too many runs for this way of reading")
        rows = found.setdefault(key, Rows(columns.path))
        rows.extend({name: values[mine & timed] for name, values in read.items()})


def _by_label(batch: pa.RecordBatch, labels: list[str]) -> list[tuple[tuple[str, ...], np.ndarray]]:
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
