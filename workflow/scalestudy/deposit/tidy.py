"""Tables of runs and of points with types: CSV, and parquet with the unit and meaning of each column."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy import __version__
from scalestudy.deposit.tables import Described, Field, fields_of
from scalestudy.errors import UserError
from scalestudy.publish.cells import csv_text, without_apostrophes
from scalestudy.record.files import read_file, write_bytes
from scalestudy.registry.files import FILES
from scalestudy.registry.kinds import Kind

if TYPE_CHECKING:
    import pandas as pd

EXPORTED = {"runs": "runs.csv", "points": "comprehensive_summary.csv"}
"""Name of the exported table -> the table of the study."""
DTYPES: dict[Kind, str] = {"text": "object", "flag": "boolean", "count": "Int64", "number": "float64"}


def typed_table(path: Path) -> tuple[pd.DataFrame, tuple[Field, ...]]:
    """Return a table of a results folder with typed columns, and its fields. A column of no registry is a text.

    Raises UserError that names the file and the column if a value does not have the type of its column.
    """
    import pandas as pd

    known = {field.name: field for field in fields_of(FILES[path.name].columns)}
    text = io.StringIO(read_file(path).decode("utf-8"))
    raw = without_apostrophes(pd.read_csv(text, dtype=str, keep_default_na=False, na_values=[""]))
    fields, columns = [], {}
    for name in raw.columns:
        field = known.get(name) or Field(name, "text", "")
        try:
            columns[name], kind = _typed(raw[name], field.kind)
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(f"{path}: {name}: {error}; run `scalestudy stage aggregate` again") from None
        fields.append(replace(field, kind=kind))
    return pd.DataFrame(columns), tuple(fields)


def _typed(values: pd.Series, kind: Kind) -> tuple[pd.Series, Kind]:
    """The values of a column with its type. A count that is a mean over runs is a number."""
    import pandas as pd

    if kind == "text":
        return values.astype(object).where(values.notna(), None), kind
    if kind == "flag":
        flags = {"True": True, "False": False}
        return values.map(lambda word: flags[word], na_action="ignore").astype("boolean"), kind
    numbers = pd.to_numeric(values).astype("float64")
    if kind == "count" and (numbers.dropna() % 1 == 0).all():
        return numbers.astype("Int64"), kind
    return numbers, "number"


def write_tidy(results: Path, folder: Path, form: str, study: str) -> list[Described]:
    """Write the tables of runs and of points as `csv` or `parquet`. Returns their descriptions."""
    made = []
    for name, source in EXPORTED.items():
        frame, fields = typed_table(results / source)
        about = FILES[source].about
        path = f"{name}.{form}"
        meta = {"study": study, "scalestudy": __version__, "description": f"A row is {about}."}
        content = csv_text(frame).encode() if form == "csv" else _parquet(frame, fields, meta)
        write_bytes(folder / path, content)
        made.append(Described(path, source, about, fields if form == "csv" else _as_read(frame, fields)))
    return made


def _as_read(frame: pd.DataFrame, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields of a parquet file as readers find them: integers with missing values become numbers in most."""
    holed = {name for name in frame.columns if frame[name].isna().any()}
    return tuple(
        replace(field, kind="number") if field.kind == "count" and field.name in holed else field
        for field in fields
    )


def _parquet(frame: pd.DataFrame, fields: tuple[Field, ...], about: Mapping[str, str]) -> bytes:
    """The frame as parquet. The metadata of each field are its unit, '' for none, and its meaning."""
    import pyarrow
    from pyarrow import parquet

    types: dict[Kind, Any] = {
        "text": pyarrow.string(),
        "flag": pyarrow.bool_(),
        "count": pyarrow.int64(),
        "number": pyarrow.float64(),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field(
                field.name, types[field.kind], metadata={"unit": field.unit, "description": field.meaning}
            )
            for field in fields
        ],
        metadata=dict(about),
    )
    table = pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False).replace_schema_metadata(about)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
