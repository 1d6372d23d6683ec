"""JSON files that one stage writes and another reads: a pydantic model each, with a schema version."""

import json
from math import nan
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema

from scalestudy.errors import UserError
from scalestudy.record.files import write_text
from scalestudy.study.named_file import read_named

Real = Annotated[
    float,
    BeforeValidator(lambda value: nan if value is None else value),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}),
]
"""A number that may be missing: nan here, null in JSON."""


class Part(BaseModel):
    """A part of a document: frozen, unknown keys refused, the text under a field is its documentation."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, defer_build=True)


class Document(Part):
    """A whole file. A subclass has `schema_version: Literal[N] = N`."""

    made_by: ClassVar[str]
    """The command that writes the file."""


AnyModel = TypeVar("AnyModel", bound=BaseModel)
AnyDocument = TypeVar("AnyDocument", bound=Document)


def read_document(path: Path, model: type[AnyDocument]) -> AnyDocument:
    """The document in a file; UserError as `read_model` raises it."""
    return read_model(path, model, model.made_by)


def read_model(path: Path, model: type[AnyModel], made_by: str) -> AnyModel:
    """The content of a JSON file, checked against a model that has a schema version.

    Raises UserError, with the command that writes the file, where it is missing, not JSON, of another schema
    version, or has a wrong key.
    """
    again = f"run snakemake again, or `{made_by}`"
    try:
        content = read_named(path)
        return model.model_validate_json(content)
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or 'unreadable').lower()}; {again}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        raise UserError(f"{path}: not whole JSON: {first['msg'].removeprefix('Invalid JSON: ')}; {again}")
    mine, parsed = model.model_fields["schema_version"].default, json.loads(content)
    version = parsed.get("schema_version") if isinstance(parsed, dict) else None
    if version != mine:
        newer = isinstance(version, int) and version > mine
        age, update = ("a newer", "update scalestudy, or ") if newer else ("an older", "")
        said = "no schema version" if version is None else f"schema {version}"
        raise UserError(f"{path}: written by {age} scalestudy: {said}, this one reads {mine}; {update}{again}")
    where = ".".join(str(part) for part in first["loc"])
    raise UserError(f"{path}: {where}: {first['msg']}; {again}")


def write_document(path: Path, document: BaseModel) -> None:
    """Write a document whole or not at all. Numbers that are not finite become null."""
    write_text(path, document.model_dump_json(indent=1) + "\n")
