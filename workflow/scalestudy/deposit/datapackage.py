"""datapackage.json: a results folder as a Frictionless data package, with a Table Schema for every table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scalestudy import __version__
from scalestudy.deposit.model import DepositFile
from scalestudy.deposit.tables import KEYS, OF_RUNS, Described, Field
from scalestudy.registry.kinds import Kind

PROFILE = "data-package"
TYPES: dict[Kind, str] = {"text": "string", "flag": "boolean", "count": "integer", "number": "number"}
LICENCES = "https://spdx.org/licenses/{licence}.html"
MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def data_package(
    results: Path, study: str, tables: Iterable[Described], about: DepositFile | None
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return (datapackage.json, the Table Schemas that it refers to by file) of a folder with these tables.

    about: licence and creators; None if nobody said.
    """
    made: dict[str, Any] = {
        "profile": PROFILE,
        "name": study,
        "title": about.title if about else f"Scaling study {study}",
        "description": f"Tables of a scaling study of PyTorch training, by scalestudy {__version__}. Shares and"
        " ratios are fractions. An empty field is an unknown value.",
    }
    if about:
        made["licenses"] = [{"name": about.licence, "path": LICENCES.format(licence=about.licence)}]
        made["contributors"] = [
            {"title": one.name, "role": "author"} | ({"organization": one.affiliation} if one.affiliation else {})
            for one in about.creators
        ]
    found = list(tables)
    keyed = {table.path: table.name for table in found if table.path in KEYS}
    shared: dict[str, dict[str, Any]] = {}
    resources = []
    for table in found:
        resource = _resource(results, table)
        if table.of in OF_RUNS:
            schema = _schema(table.fields)
            resources.append(resource | {"schema": _shared(schema, table.of, shared)})
        else:
            resources.append(resource | {"schema": _schema(table.fields) | _keys(table, keyed)})
    return made | {"resources": resources}, shared


def _shared(schema: dict[str, Any], of: str, shared: dict[str, dict[str, Any]]) -> str:
    """Return the file of a schema that many runs have: one file for equal schemas."""
    name, _, suffix = of.rpartition("/")[2].rpartition(".")
    for number in range(1, len(shared) + 2):
        path = f"schemas/{name}{'_of_a_run' if suffix == 'csv' else ''}{f'_{number}' if number > 1 else ''}.json"
        if shared.setdefault(path, schema) == schema:
            return path
    raise AssertionError("one more file than there are schemas")


def _resource(results: Path, table: Described) -> dict[str, Any]:
    form = table.path.rpartition(".")[2]
    made: dict[str, Any] = {
        "name": table.name,
        "path": table.path,
        "description": f"A row is {table.about}.",
        "format": form,
        "mediatype": MEDIA[form],
    }
    if form != "csv":
        return made  # frictionless does not read the size and the checksum of parquet
    content = (results / table.path).read_bytes()
    return made | {
        "profile": "tabular-data-resource",
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }


def _schema(fields: Sequence[Field]) -> dict[str, Any]:
    return {"fields": [_field(field) for field in fields], "missingValues": [""]}


def _field(field: Field) -> dict[str, Any]:
    made = {"name": field.name, "type": TYPES[field.kind], "description": field.meaning}
    return made | ({"unit": field.unit} if field.unit else {})


def _keys(table: Described, keyed: dict[str, str]) -> dict[str, Any]:
    """The key of a table, and its reference to the table that has it."""
    if key := KEYS.get(table.path):
        return {"primaryKey": key}
    names = {field.name for field in table.fields}
    refers = [(KEYS[path], name) for path, name in keyed.items() if KEYS[path] in names]
    if not refers:
        return {}
    return {
        "foreignKeys": [{"fields": key, "reference": {"resource": name, "fields": key}} for key, name in refers]
    }
