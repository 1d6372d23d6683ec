"""The tables of a results folder, each with its columns as the registry declares them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scalestudy.errors import UserError, first_line
from scalestudy.registry.column import ENDS, Column
from scalestudy.registry.drawn import TIDY
from scalestudy.registry.files import FILES
from scalestudy.registry.kinds import Kind, kind_of

ENDINGS = {
    "_low": "lower limit of the interval of {name}",
    "_high": "upper limit of the interval of {name}",
    "_min": "smallest {name} of the runs",
    "_max": "largest {name} of the runs",
}
TOP = tuple(name for name in FILES if "/" not in name and name != "comparison.csv")
"""Tables in the results folder itself."""
OF_RUNS = tuple(name for name in FILES if name.startswith("runs/"))
WHOLE = re.compile(r"(-?\d+)?")
"""An integer as text, or an empty field."""
KEYS = {"runs.csv": "run_id"}
"""Tables with a key; other tables refer to it by the same name."""


@dataclass(frozen=True)
class Field:
    """A column of a file: a column of the registry, or one of its limits."""

    name: str
    kind: Kind
    """`count`: every value is an integer as it is written, so that any reader finds integers."""
    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Described:
    """A table of a results folder."""

    path: str
    """Relative to the results folder."""
    of: str
    """Its name in the registry: `runs/RUN/steps.parquet`."""
    about: str
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        """A name of lower-case letters, digits, points, hyphens and underscores."""
        return re.sub(r"[^a-z0-9._-]", "-", self.path.lower().rpartition(".")[0])


def fields_of(columns: Sequence[Column]) -> Iterator[Field]:
    """Yield the fields of columns: each column, then its limits."""
    for column in columns:
        kind = kind_of(column)
        yield Field(column.name, kind, column.meaning, column.unit)
        for end in ENDS[column.limits]:
            yield Field(f"{column.name}{end}", kind, ENDINGS[end].format(name=column.name), column.unit)


def described(results: Path, *, runs: Sequence[str] = ()) -> Iterator[Described]:
    """Yield the tables that a results folder has: of the study, of its figures, and of these runs."""
    for name in TOP:
        if (results / name).exists():
            yield _csv(results, name, name, FILES[name].columns)
    for path in sorted((results / "figures").glob("*.csv")):
        of = next((name for name in FILES if _is_of(path.name, name)), "figures/FIGURE.csv")
        yield _csv(results, f"figures/{path.name}", of, (*TIDY, *(() if "FIGURE" in of else FILES[of].columns)))
    for of_run, of in ((of.replace("RUN", run), of) for run in runs for of in OF_RUNS):
        if (results / of_run).exists():
            yield (_csv if of.endswith(".csv") else _parquet)(results, of_run, of, FILES[of].columns)


def _is_of(file: str, name: str) -> bool:
    """Whether a figure's table is the one of the registry that adds columns."""
    ending = name.removeprefix("figures/").removeprefix("WORKLOAD")
    return name.startswith("figures/") and file.endswith(ending) and "FIGURE" not in name


def _parquet(results: Path, path: str, of: str, columns: Sequence[Column]) -> Described:
    """Describe a parquet file by its own columns and types: earlier releases had other columns."""
    import pyarrow
    from pyarrow import parquet

    known = {field.name: field for field in fields_of(columns)}
    try:
        table = parquet.read_table(results / path)
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{results / path}: not a complete parquet file ({first_line(error)})") from None
    fields = []
    for column in table.schema:
        field = known.get(column.name) or Field(column.name, "text", "")
        kind: Kind = (
            field.kind  # without any value
            if pyarrow.types.is_null(column.type)
            else "flag"
            if pyarrow.types.is_boolean(column.type)
            else "count"
            if pyarrow.types.is_integer(column.type) and not table[column.name].null_count
            else "number"
            if pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)
            else "text"
        )
        fields.append(replace(field, kind=kind))
    return Described(path, of, FILES[of].about, tuple(fields))


def _csv(results: Path, path: str, of: str, columns: Sequence[Column]) -> Described:
    """Describe a CSV file by the columns that it has; a column that the registry lacks is a text.

    A column of counts with a decimal point (`3.0`, as beside a missing value) has numbers.
    """
    known = {field.name: field for field in fields_of(columns)}
    try:
        with (results / path).open(encoding="utf-8", newline="") as file:
            names, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise UserError(f"{results / path}: is not a CSV table; run the study again") from None
    fields = [known.get(name) or Field(name, "text", "") for name in names]
    broken = {at for row in rows for at, value in enumerate(row) if not WHOLE.fullmatch(value)}
    numbers = {at for at, field in enumerate(fields) if field.kind == "count" and at in broken}
    kept = (replace(field, kind="number") if at in numbers else field for at, field in enumerate(fields))
    return Described(path, of, FILES[of].about, tuple(kept))
