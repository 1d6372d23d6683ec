"""A run as it is read back: its record and its tables. The contract is record/observation.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pyarrow

from scalestudy.errors import UserError
from scalestudy.record.epochs import read_epochs
from scalestudy.record.observation import EPOCH_COLUMNS, TABLES, RunRecord, content_of, digest_of, read_record
from scalestudy.record.parts import read_table

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
    given = {name: contents.get(file) or content_of(directory / file) for name, file in tables.items()}
    read = {name: read_table(pyarrow.BufferReader(content)) for name, content in given.items()}
    epochs = pd.DataFrame(read_epochs(directory / "epochs.csv"), columns=list(EPOCH_COLUMNS))
    return Observation(record, read, epochs)


def _frame(table: Table) -> pd.DataFrame:
    """Without what pandas wrote beside it of its index and types: the columns say their types themselves."""
    if isinstance(table, pd.DataFrame):
        return table
    frame: pd.DataFrame = table.to_pandas(use_threads=False, ignore_metadata=True)
    return frame
