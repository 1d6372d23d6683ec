"""A run as it is read back: its record and its tables. The contract is record/observation.py."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

from scalestudy.errors import UserError
from scalestudy.record.observation import TABLES, RunRecord, content_of, digest_of, read_record

Table: TypeAlias = pd.DataFrame | pyarrow.Table


@dataclass(frozen=True)
class Observation:
    """A run as read back: its record and its tables (without rows where nothing was measured).

    Making a frame of a table takes as long as reading it, and of a thousand runs few are looked at as frames.
    """

    record: RunRecord
    tables: Mapping[str, Table]
    """By their names in TABLES, as they were read."""
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
    """Record and tables of a run directory; refuses a data file that is short or changed, by name."""
    directory = Path(directory)
    record = read_record(directory)
    tables = {name: f"{name}.parquet" for name in TABLES}
    contents: dict[str, bytes] = {}  # of the tables; a trace is not kept
    for name, expected in record.files.items():
        content = content_of(directory / name)
        found = digest_of(content)
        if found != expected:
            raise UserError(
                f"{directory / name}: not what was recorded ({found.bytes} bytes, {expected.bytes} expected;"
                " contents differ). Move the directory away and run snakemake again"
            )
        if name in tables.values():
            contents[name] = content
    read = {name: _table(contents.get(file) or content_of(directory / file)) for name, file in tables.items()}
    return Observation(record, read, _epochs(directory / "epochs.csv"))


def _table(content: bytes) -> pyarrow.Table:
    """A table, read in one thread: for a few thousand rows it takes longer to share the work than to do it."""
    with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)) as file:
        return file.read(use_threads=False)


def _frame(table: Table) -> pd.DataFrame:
    """Without what pandas wrote beside it of its index and types: the columns say their types themselves."""
    if isinstance(table, pd.DataFrame):
        return table
    frame: pd.DataFrame = table.to_pandas(use_threads=False, ignore_metadata=True)
    return frame


def _epochs(path: Path) -> pd.DataFrame:
    """A file of some lines, for which pandas' own reader takes ten times as long."""
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pd.DataFrame({name: _numbers(texts) for name, texts in zip(names, columns, strict=True)})


def _numbers(texts: Sequence[str]) -> np.ndarray:
    """Whole ones where all are; else nan for what is left out."""
    try:
        return np.array([int(text) for text in texts], dtype=int)
    except ValueError:
        return np.array([float(text or "nan") for text in texts])
