"""The content of a log in our own terms, before it is interpreted: facts, rows with their lines, and remarks."""

from __future__ import annotations

import shlex
from array import array
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError

COLUMNS = ("line", "step", "step_time_s", "work_per_s", "clock_s", "work", "loss")
"""Columns of the rows of a log. `clock_s`: time stamp, in seconds since any origin. `work`: samples or tokens done
since the beginning."""
TYPES = {"line": "i", "loss": "f"}
"""Types of columns that need not be doubles."""
MOST_ROWS = 8_000_000
"""Largest number of rows of a log: more would not fit into the memory that an import may use."""


@dataclass(frozen=True)
class Facts:
    """What a log says about its run; None where it says nothing."""

    devices: int | None = None
    started: int | None = None
    """Ranks of the command that started them, where a log has it."""
    nodes: int | None = None
    global_batch: int | None = None
    """Work of a step of all devices, in samples."""
    sequence_length: int | None = None
    """Tokens of a sample."""
    step_tokens: int | None = None
    """Tokens of a step of all devices."""
    accumulation: int | None = None
    variant: str | None = None
    precision: str | None = None
    device: str | None = None
    torch: str | None = None


@dataclass
class Log:
    """One run as its log has it."""

    path: Path
    kind: str
    """Name of the format, for messages."""
    columns: dict[str, np.ndarray]
    """COLUMNS; nan where a row has no value."""
    facts: Facts = Facts()
    label: str = ""
    """Name of the run within its file, if the file has several."""
    unit: str = ""
    """Unit of work: samples or tokens; '' if the log does not say."""
    per: str = ""
    """What work_per_s belongs to: `device` or `all`; '' if the log does not say."""
    each: str = "mean"
    """What the time of a row is: `mean` of the steps since the row before, `last` of them, or `unknown` for the
    mean of an unknown number."""
    whole_run: bool = False
    """Whether a row is the mean over the whole run, its start included."""
    digits: int = 0
    """Significant digits of the times as printed; 0 if they are not limited."""
    rounding: float = 0.0
    """Largest relative error of its times by the digits that are printed; 0 if it is not known or evens out."""
    printed: bool = False
    """Whether the only row is a number of a published table, so that neither its steps nor its run are known."""
    remarks: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.path}, run {self.label}" if self.label else str(self.path)


class Rows:
    """Collects rows in few bytes each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: dict[str, array[Any]] = {name: array(TYPES.get(name, "d")) for name in COLUMNS}
        self._append = [self._columns[name].append for name in COLUMNS]
        self._unknown = dict.fromkeys(COLUMNS, 0)
        """Rows at the beginning without a value in a column, which are not stored."""

    def __len__(self) -> int:
        return len(self._columns["line"])

    def add(
        self,
        line: int,
        step: float,
        step_time_s: float = nan,
        work_per_s: float = nan,
        clock_s: float = nan,
        work: float = nan,
        loss: float = nan,
    ) -> None:
        line_, step_, time_, rate_, clock_, work_, loss_ = self._append
        line_(line)
        step_(step)
        time_(step_time_s)
        rate_(work_per_s)
        clock_(clock_s)
        work_(work)
        loss_(loss)
        if line % 65536 == 0 and len(self) > MOST_ROWS:
            raise UserError(f"{self._path}, line {line}: more than {MOST_ROWS} rows, which is too large for a log")

    def extend(self, columns: dict[str, np.ndarray]) -> None:
        """Add many rows, to rows that were added like this; columns: all of COLUMNS."""
        for name, values in columns.items():
            stored = self._columns[name]
            if not len(stored) and np.isnan(values).all():
                self._unknown[name] += len(values)
                continue
            if self._unknown[name]:
                stored.frombytes(np.full(self._unknown[name], nan, dtype=stored.typecode).tobytes())
                self._unknown[name] = 0
            stored.frombytes(_bytes_of(values, stored.typecode))
        if len(self) > MOST_ROWS:
            raise UserError(f"{self._path}: more than {MOST_ROWS} rows, which is too large for a log")

    def store(self, columns: dict[str, np.ndarray]) -> None:
        """Add many rows, to rows that were added one by one or like this; columns that are missing are nan."""
        count = len(columns["line"])
        nothing = np.full(count, nan)
        for name, stored in self._columns.items():
            values = columns.get(name, nothing)
            stored.frombytes(_bytes_of(values, stored.typecode))
        if len(self) > MOST_ROWS:
            raise UserError(f"{self._path}: more than {MOST_ROWS} rows, which is too large for a log")

    def columns(self) -> dict[str, np.ndarray]:
        nothing = np.broadcast_to(np.array(nan), len(self))
        return {
            name: np.frombuffer(values, dtype=values.typecode) if len(values) else nothing
            for name, values in self._columns.items()
        }


def _bytes_of(values: np.ndarray, typecode: str) -> bytes:
    """The bytes of numbers as they are stored; one that is too large becomes infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=typecode).tobytes()


@dataclass(frozen=True)
class Given:
    """What the user says about a file; None where nothing is said. It counts more than what the log says."""

    devices: int | None = None
    nodes: int | None = None
    batch: int | None = None
    batch_per_gpu: int | None = None
    samples: int | None = None
    """Work of the whole training or epoch that a table's times are of."""
    sequence_length: int | None = None
    accumulation: int | None = None
    variant: str | None = None
    per: str | None = None
    """`device` or `all`."""
    rate: str | None = None
    """Unit of a throughput: samples, tokens or steps."""
    time: str | None = None
    """Unit of a time: s, ms, us or min."""
    file: str = field(default="", repr=False, compare=False)
    """Name of the file in options, if several files have its own name."""

    def option(self, flag: str, path: Path, value: object = "N") -> str:
        """Return an option for a file, as it is typed: `--batch train.log=N`."""
        return f"--{flag} {self.word(path, value)}"

    def word(self, path: Path, value: object) -> str:
        """Return the word of an option for a file, as it is typed: `train.log=8`."""
        return shlex.quote(f"{self.file or path.name}={value}")

    def batch_on(self, devices: int | None) -> int | None:
        """Work of a step on all devices, as the user says; None if that is not said, or needs the devices."""
        if self.batch is None and self.batch_per_gpu is not None and devices:
            return self.batch_per_gpu * devices * (self.accumulation or 1)
        return self.batch
