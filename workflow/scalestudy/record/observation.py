"""The observation: the contract between those who measure and those who analyse.

    runs/<run>/run.json       schema version, spec, outcome, environment, totals, memory
    runs/<run>/steps.parquet  a row per rank and step
    runs/<run>/epochs.csv     a row per epoch
    runs/<run>/log.txt        what the processes printed

A run directory appears whole, by one rename, or not at all. A reader refuses another schema version, a file
that is cut short, and a run.json that belongs to another run, each by name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyarrow.parquet
from pydantic import BaseModel, ConfigDict, ValidationError

from scalestudy.errors import UserError
from scalestudy.study.spec import RunSpec

SCHEMA_VERSION = 1
Outcome = Literal["ok", "oom", "diverged", "timeout", "failed", "preempted"]

STEP_COLUMNS = (
    "rank",
    "epoch",
    "block",
    "step",
    "phase",
    "data_time_s",
    "forward_time_s",
    "backward_time_s",
    "optimizer_time_s",
    "step_time_s",
    "samples",
    "loss",
)
EPOCH_COLUMNS = (
    "epoch",
    "epoch_time_s",
    "elapsed_s",
    "samples",
    "train_loss",
    "validation_loss",
    "validation_accuracy",
)


class Part(BaseModel):
    """A part of run.json: unknown keys are refused, so that a schema change is never silent."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FileDigest(Part):
    """What a data file must look like: its size in bytes and SHA-256."""

    bytes: int
    sha256: str


class Memory(Part):
    """Peak memory of one rank in GiB; None where the device does not have the notion."""

    peak_resident_gib: float
    peak_allocated_gib: float | None
    peak_reserved_gib: float | None


class RankReport(Part):
    """What one rank says of itself at its end."""

    rank: int
    host: str
    device: str
    """'cpu' or the device's name, such as 'NVIDIA H100 80GB HBM3'."""
    cores: tuple[int, ...]
    """The CPU cores this rank could run on."""
    threads: int
    """Threads of torch's intra-op pool."""
    outcome: Outcome
    reason: str
    steps: int
    memory: Memory


class Totals(Part):
    """What was done, summed; the statistics are made by the analysis."""

    steps: int
    samples: int
    train_time_s: float
    """Seconds inside timed blocks, the largest over ranks."""
    wall_time_s: float
    """Seconds from the start of the processes to their end, imports and validation included."""
    parameters: int | None
    gradient_bytes: int | None
    """Bytes of gradients synchronised each step; None for a single process."""


class RunRecord(Part):
    """run.json."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    fingerprint: str
    """Of the measuring code (record/fingerprint.py)."""
    spec: RunSpec
    outcome: Outcome
    reason: str
    """One sentence where the outcome is not ok; empty where it is."""
    log_tail: tuple[str, ...]
    """The last lines of the log where the outcome is not ok."""
    started_at: str
    environment: dict[str, Any]
    ranks: tuple[RankReport, ...]
    totals: Totals
    files: dict[str, FileDigest]


@dataclass(frozen=True)
class Observation:
    """A run as read back: its record, its steps and epochs (empty frames where nothing was measured)."""

    record: RunRecord
    steps: pd.DataFrame
    epochs: pd.DataFrame


def read_record(directory: str | Path) -> RunRecord:
    """run.json of a run directory, checked against the name of the directory.

    Raises UserError naming the file where it is missing, cut short, of another schema, or of another run.
    """
    path = Path(directory) / "run.json"
    try:
        record = RunRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: missing; the run was not measured") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UserError(
            f"{path}: not a whole run.json of schema version {SCHEMA_VERSION}"
            f" ({where}: {first['msg']}). Move the directory away and run snakemake again"
        ) from None
    if record.run_id != Path(directory).name:
        raise UserError(f"{path}: belongs to run {record.run_id}; a run directory must not be renamed or copied")
    return record


def read_observation(directory: str | Path) -> Observation:
    """Record, steps and epochs of a run directory; refuses a data file that is short or changed, by name."""
    directory = Path(directory)
    record = read_record(directory)
    for name, expected in record.files.items():
        found = _digest(directory / name)
        if found != expected:
            raise UserError(
                f"{directory / name}: not what was recorded ({found.bytes} bytes, {expected.bytes} expected;"
                " contents differ). Move the directory away and run snakemake again"
            )
    return Observation(
        record=record,
        steps=pyarrow.parquet.read_table(directory / "steps.parquet").to_pandas(),
        epochs=pd.read_csv(directory / "epochs.csv"),
    )


def digests(directory: str | Path, names: tuple[str, ...]) -> dict[str, FileDigest]:
    """Size and checksum of the data files of a run directory."""
    return {name: _digest(Path(directory) / name) for name in names}


def _digest(path: Path) -> FileDigest:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: missing; move the run's directory away and run again") from None
    return FileDigest(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
