"""Reading a run: its record and its tables. record/observation.py defines the format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pyarrow
from pyarrow import parquet, types
from pyarrow.compute import min_max

from scalestudy.errors import UserError, first_line
from scalestudy.record.epochs import read_epochs
from scalestudy.record.files import MOST_BYTES
from scalestudy.record.observation import (
    EPOCH_COLUMNS,
    LATER_COLUMNS,
    NUMBERING,
    TABLES,
    TEXTS,
    RunRecord,
    content_of,
    digest_of,
    read_record,
)
from scalestudy.record.parts import read_table
from scalestudy.record.voucher import AGAIN

Table: TypeAlias = pd.DataFrame | pyarrow.Table


@dataclass(frozen=True)
class Observation:
    """A run that was read: its record and its tables (without rows if nothing was measured).

    Converting a table to a frame takes as long as reading it, and of a thousand runs few are needed as frames.
    """

    record: RunRecord
    tables: Mapping[str, Table]
    """Name in TABLES -> table, as it was read."""
    epochs: pd.DataFrame

    @cached_property
    def steps(self) -> pd.DataFrame:
        return _frame(self.tables["steps"])

    @cached_property
    def blocks(self) -> pd.DataFrame:
        return _frame(self.tables["blocks"])

    @cached_property
    def buckets(self) -> pd.DataFrame:
        return _frame(self.tables["buckets"])

    @cached_property
    def collectives(self) -> pd.DataFrame:
        return _frame(self.tables["collectives"])


def read_observation(directory: str | Path) -> Observation:
    """Read record and tables of a run directory. Raises UserError, naming the data file, if one was changed."""
    directory = Path(directory)
    record = read_record(directory)
    tables = {name: f"{name}.parquet" for name in TABLES}
    contents: dict[str, bytes] = {}  # of the tables; a trace is not kept
    for name, expected in record.files.items():
        if Path(name).name != name or name in ("", ".."):
            raise UserError(f"{directory / 'run.json'}: files: {name!r} is not a file in the run's own directory")
        content = content_of(directory / name)
        found = digest_of(content)
        if found != expected:
            raise UserError(
                f"{directory / name}: differs from what was recorded ({found.bytes} bytes, {expected.bytes}"
                " expected; contents differ). Move the directory away and run the study again"
            )
        if name in tables.values():
            contents[name] = content
    given = {name: contents.get(file) or content_of(directory / file) for name, file in tables.items()}
    read = {name: _table(directory / tables[name], content, TABLES[name]) for name, content in given.items()}
    if read["blocks"].num_rows and not read["steps"].num_rows:
        raise UserError(f"{directory / tables['steps']}: has no steps, but {tables['blocks']} has blocks. {AGAIN}")
    epochs = pd.DataFrame(read_epochs(directory / "epochs.csv"), columns=list(EPOCH_COLUMNS))
    return Observation(record, read, epochs)


LARGEST = 2.0**53
"""Limit for counts and seconds: sums of larger numbers are not exact, and integers overflow."""
MOST_CELLS = 500_000_000
"""Limit for a table. A file of a few kilobytes can claim to unpack to more than fits into memory."""


def _table(path: Path, content: bytes, columns: Sequence[str]) -> pyarrow.Table:
    """Read the table in a parquet file.

    Raises UserError, naming the file, if it is not parquet, has more cells than a run can have, or lacks columns.
    """
    try:
        size = parquet.read_metadata(pyarrow.BufferReader(content))
        unpacked = sum(size.row_group(index).total_byte_size for index in range(size.num_row_groups))
        if size.num_rows * size.num_columns > MOST_CELLS or unpacked > MOST_BYTES:
            raise UserError(
                f"{path}: has {size.num_rows} rows by its metadata, more than any run has; move its directory away"
            )
        table = read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(
            f"{path}: not a complete parquet file ({first_line(error)}); move its directory away"
        ) from None
    for name in columns:
        if wrong := _wrong_column(table, name):
            raise UserError(f"{path}: column {name} {wrong}. {AGAIN}")
    return table


def _wrong_column(table: pyarrow.Table, name: str) -> str:
    """Return what is wrong with a column; '' if nothing is. A column without rows may have any type."""
    if name not in table.column_names:
        return "" if name in LATER_COLUMNS else "is missing"
    column = table[name]
    if not len(column):
        return ""
    kinds = (types.is_string, types.is_large_string) if name in TEXTS else (types.is_integer, types.is_floating)
    if not any(is_of_kind(column.type) for is_of_kind in kinds):
        return "is not text" if name in TEXTS else "is not numbers"
    if column.null_count and name in (*TEXTS, *NUMBERING):
        return "has empty cells"
    if name in NUMBERING or name.endswith("_s"):
        ends = min_max(column)
        low, high = ends["min"].as_py() or 0, ends["max"].as_py() or 0
        # Without any number they are nan, or in pyarrow before 18 infinite and the wrong way round.
        if low <= high and max(abs(low), abs(high)) > LARGEST:
            return "has larger numbers than any run has"
    return ""


def _frame(table: Table) -> pd.DataFrame:
    """Convert a table to a frame. pandas' metadata on index and types are ignored: Arrow's types suffice."""
    if isinstance(table, pd.DataFrame):
        return table
    frame: pd.DataFrame = table.to_pandas(use_threads=False, ignore_metadata=True)
    return frame
