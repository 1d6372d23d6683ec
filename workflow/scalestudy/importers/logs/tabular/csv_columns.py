"""Reads the columns of a CSV file with Arrow, at many times the speed of reading its lines.

A row with too many or too few cells is left out with a remark. A file that is not regular otherwise (bytes that
are not UTF-8, a quote that does not end, two columns of one name) is left to `csv_log.py`, which reads by lines
and names the line.
"""

from __future__ import annotations

import zlib
from contextlib import closing
from dataclasses import dataclass, field
from math import nan

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import opened
from scalestudy.importers.logs.model import Rows
from scalestudy.importers.logs.tabular.arrow_file import batches
from scalestudy.importers.logs.tabular.columns import SHOWN, TELL_APART, VALUES, Columns
from scalestudy.importers.logs.tabular.csv_lines import BLOCK, Uncommented
from scalestudy.importers.logs.tabular.table import MEASURED, MOST_REMARKS, other_ranks
from scalestudy.importers.logs.tabular.values import NOTHING, is_dash, label_of, value_of
from scalestudy.importers.logs.tabular.widths import Widths

MOST_RUNS = 1000
MOST_UNITS = 100
WITH_UNIT = r"^\s*(?P<number>[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]{1,2})?)\s*(?P<unit>(?:[A-Za-z][A-Za-z/ ]*)?)$"
NULLS = [form for word in NOTHING for form in (word, word.upper(), word.capitalize())]
Key = tuple[str, ...]


@dataclass
class Regular:
    """The rows of each run by its labels, and the remarks on them, as `table.logs_of` collects them."""

    rows: dict[Key, Rows] = field(default_factory=dict)
    remarks: dict[Key, list[str]] = field(default_factory=dict)
    bad: int = 0
    """Cells that are not numbers."""
    first_rank: str | None = None
    ranks: set[str] = field(default_factory=set)
    others: int = 0
    """Rows of other ranks than the first."""


def read_regular(
    columns: Columns, names: list[str], delimiter: str, *, header_line: int, over_lines: bool = False
) -> Regular | None:
    """Return the rows of a file; None if it is not regular. Raises UserError if it has too many rows.

    over_lines: whether a cell in quotes may go over several lines.
    """
    if len(set(names)) < len(names):
        return None
    labels = [name for quantity in TELL_APART if (name := columns.name(quantity))]
    numbers = [quantity for quantity in VALUES if columns.name(quantity)]
    ranks = [name] if (name := columns.name("rank")) else []
    wanted = [*labels, *ranks, *(columns.read[quantity][0] for quantity in numbers)]
    found, widths = Regular(), Widths(columns.path, len(names))
    skipped: list[int] = []  # lines that are left out, of this block and perhaps of the next one

    def left_out(row: csv.InvalidRow) -> str:
        skipped.append(row.number)
        widths.add(row.number, row.actual_columns)
        return "skip"

    line, count = header_line, 0
    try:
        with opened(columns.path) as file:
            lines_of = Uncommented(file, len(names), delimiter, header_line=header_line, over_lines=over_lines)
            found_batches = batches(
                lines_of.read,
                read_options=csv.ReadOptions(
                    block_size=BLOCK, skip_rows=header_line, column_names=names, use_threads=False
                ),
                parse_options=csv.ParseOptions(
                    delimiter=delimiter,
                    ignore_empty_lines=False,
                    newlines_in_values=over_lines,
                    invalid_row_handler=left_out,
                ),
                convert_options=csv.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, pa.string()),
                    null_values=NULLS,
                    strings_can_be_null=True,
                ),
            )
            with closing(found_batches):
                for batch in found_batches:
                    rows = batch.num_rows
                    lines = lines_of.next_rows(rows) if over_lines else _lines(line, rows, skipped)
                    _take(columns, batch, labels, numbers, lines, found)
                    line = int(lines[-1]) if len(lines) else line
                    count += len(lines)
    except UserError:
        raise
    except (pa.ArrowException, OSError, EOFError, zlib.error, ValueError):
        return None
    if over_lines and (widths.left_out or len(lines_of.row_ends)):
        return None
    if not over_lines and lines_of.ends > header_line + count + widths.left_out:
        return None  # a cell over several lines
    widths.check(count)
    _remark(found, widths)
    return found


def _lines(after: int, rows: int, skipped: list[int]) -> np.ndarray:
    """The lines of the next rows. after: the line of the row before. skipped: lines without a row, of which those
    before the last row are removed."""
    before = sum(number - after - 1 - at < rows for at, number in enumerate(skipped))
    lines = np.arange(after + 1.0, after + 1.0 + rows + before)
    kept: np.ndarray = np.delete(lines, np.array(skipped[:before], dtype=int) - after - 1)
    del skipped[:before]
    return kept


def _remark(found: Regular, widths: Widths) -> None:
    """Say at the first run which rows of the file are left out."""
    if not found.remarks:
        return
    remarks = next(iter(found.remarks.values()))
    remarks += widths.remarks()
    if found.others:
        remarks.append(other_ranks(found.others, len(found.ranks) - 1, found.first_rank or ""))


def _take(
    columns: Columns,
    batch: pa.RecordBatch,
    labels: list[str],
    numbers: list[str],
    lines: np.ndarray,
    found: Regular,
) -> None:
    """Add the rows of a batch. lines: their numbers."""
    count = batch.num_rows
    said: list[tuple[int, str]] = []
    read = {"line": lines}
    for quantity in VALUES:
        read[quantity] = np.full(count, nan)
        if quantity in numbers:
            read[quantity] = _numbers(columns, quantity, batch.column(columns.read[quantity][0]), lines, said)
    timed = ~(np.isnan(read["step_time_s"]) & np.isnan(read["work_per_s"]) & np.isnan(read["clock_s"]))
    if name := columns.name("rank"):
        timed = _of_first_rank(batch.column(name), timed, found)
    for key, mine in _by_label(batch, labels):
        if not (mine & timed).any():
            continue
        if key not in found.rows and len(found.rows) >= MOST_RUNS:
            raise ValueError("too many runs for this way of reading")
        rows = found.rows.setdefault(key, Rows(columns.path))
        rows.extend({name: values[mine & timed] for name, values in read.items()})
        remarks = found.remarks.setdefault(key, [])
        remarks += [text for at, text in said if mine[at]][: max(0, MOST_REMARKS - found.bad)]
    found.bad += len(said)


def _of_first_rank(column: pa.StringArray, timed: np.ndarray, found: Regular) -> np.ndarray:
    """Which rows with a time are of the rank that the file begins with."""
    ranks = column.fill_null("0")
    found.ranks.update(compute.unique(ranks).to_pylist())
    if found.first_rank is None and len(ranks) and timed.any():
        found.first_rank = ranks[int(timed.argmax())].as_py()
    mine: np.ndarray = compute.equal(ranks, found.first_rank or "").to_numpy(zero_copy_only=False)
    found.others += int((timed & ~mine).sum())
    mine &= timed
    return mine


def _numbers(
    columns: Columns, quantity: str, column: pa.StringArray, lines: np.ndarray, said: list[tuple[int, str]]
) -> np.ndarray:
    """A column as numbers in our unit. said: takes (row, remark) of each cell that is not one."""
    name, meaning = columns.read[quantity]
    comma = name in columns.commas
    text = column
    if comma:
        text = compute.replace_substring(compute.replace_substring(text, ".", ""), ",", ".")
    try:
        values = compute.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
        return np.where(np.isfinite(values), values, nan) * (meaning.factor or 1.0)
    except pa.ArrowInvalid:
        made = _dates(text) if quantity == "clock_s" else _with_units(text, quantity, meaning.factor)
    unknown = np.isnan(made) & column.is_valid().to_numpy(zero_copy_only=False)
    for at in np.flatnonzero(unknown):
        cell = column[int(at)].as_py()
        try:
            made[at] = value_of(cell, quantity, meaning.factor, comma=comma)
            said_to_miss = quantity in MEASURED and is_dash(cell)
        except ValueError:
            said_to_miss = True
        if said_to_miss:
            said.append((int(at), f"line {int(lines[at])}, {name}: {cell[:SHOWN]!r} is not a number; left out"))
    return made


def _dates(text: pa.StringArray) -> np.ndarray:
    """ISO dates as seconds since the epoch; nan unless all cells are dates."""
    for zone in (None, "UTC"):
        try:
            stamps = compute.cast(text, pa.timestamp("us", tz=zone)).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
        return np.where(np.isnat(stamps), nan, stamps.astype("datetime64[us]").astype(np.int64) / 1e6)
    return np.full(len(text), nan)


def _with_units(text: pa.StringArray, quantity: str, factor: float | None) -> np.ndarray:
    """Cells such as `12.5 ms` in our unit; nan for those of another form."""
    parts = compute.extract_regex(text, pattern=WITH_UNIT)
    number, unit = parts.flatten()
    units = unit.dictionary_encode()
    numbers = compute.cast(number, pa.float64()).to_numpy(zero_copy_only=False)
    if len(units.dictionary) > MOST_UNITS:
        return np.full(len(text), nan)
    factors = []
    for unit in units.dictionary.to_pylist():
        try:
            factors.append(value_of(f"1{unit}", quantity, factor, comma=False) if unit else factor or 1.0)
        except ValueError:
            factors.append(nan)
    known = parts.is_valid().to_numpy(zero_copy_only=False)
    codes = units.indices.fill_null(len(factors)).to_numpy(zero_copy_only=False)
    each = np.array([*factors, nan])[codes]
    found: np.ndarray = np.where(known & np.isfinite(numbers), numbers, nan) * each
    return found


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
        made.append((tuple(map(label_of, words)), which.reshape(-1) == at))
    return made
