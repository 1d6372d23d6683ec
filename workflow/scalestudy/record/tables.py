"""A run as it is read back: its record and its tables. The contract is record/observation.py."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet

from scalestudy.errors import UserError
from scalestudy.record.observation import TABLES, RunRecord, content_of, digest_of, read_record


@dataclass(frozen=True)
class Observation:
    """A run as read back: its record and its tables (empty frames where nothing was measured)."""

    record: RunRecord
    steps: pd.DataFrame
    blocks: pd.DataFrame
    buckets: pd.DataFrame
    collectives: pd.DataFrame
    epochs: pd.DataFrame


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
    return Observation(
        record=record,
        **{name: _table(contents.get(file) or content_of(directory / file)) for name, file in tables.items()},
        epochs=pd.read_csv(directory / "epochs.csv"),
    )


def _table(content: bytes) -> pd.DataFrame:
    """A table, read in one thread: for a few thousand rows it takes longer to share the work than to do it.

    What pandas wrote beside it of its index and types is left out: the columns say their types themselves.
    """
    with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)) as file:
        read = file.read(use_threads=False)
    table: pd.DataFrame = read.to_pandas(use_threads=False, ignore_metadata=True)
    return table
