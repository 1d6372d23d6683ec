"""JSON files that one stage writes and another reads. Each is a pydantic model with a schema version."""

import json
from math import nan
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema

from scalestudy.errors import UserError
from scalestudy.record.files import MOST_TEXT, read_file, write_text

Real = Annotated[
    float,
    BeforeValidator(lambda value: nan if value is None else value),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}),
]
"""A number that may be missing: nan in Python, null in JSON."""


class Part(BaseModel):
    """A part of a document. It is frozen and rejects unknown keys; the text under a field documents the field."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, defer_build=True)


class Document(Part):
    """A whole file. A subclass has `schema_version: Literal[N] = N`."""

    made_by: ClassVar[str]
    """The command that writes the file."""


AnyModel = TypeVar("AnyModel", bound=BaseModel)
AnyDocument = TypeVar("AnyDocument", bound=Document)


def read_document(path: Path, model: type[AnyDocument]) -> AnyDocument:
    """Read the document in a file. Raises UserError as `read_model` does."""
    return read_model(path, model, model.made_by)


def read_model(path: Path, model: type[AnyModel], made_by: str) -> AnyModel:
    """Read a JSON file and check it against a model that has a schema version.

    Raises UserError if the file is missing, is not JSON, has another schema version or a wrong key. The error
    names the command that writes the file.
    """
    again = f"run or import the study again, or `{made_by}`"
    try:
        content = read_file(path, most=MOST_TEXT)
        return model.model_validate_json(content)
    except UserError as error:
        raise UserError(f"{error}, then {again}") from None
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or 'unreadable').lower()}; {again}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        raise UserError(f"{path}: not valid JSON: {first['msg'].removeprefix('Invalid JSON: ')}; {again}")
    mine = model.model_fields["schema_version"].default
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):  # deeper nesting or longer numbers than any file of ours
        parsed = None
    version = parsed.get("schema_version") if isinstance(parsed, dict) else None
    if version != mine:
        newer = isinstance(version, int) and version > mine
        age, update = ("a newer", "update scalestudy, or ") if newer else ("an older", "")
        said = "no schema version" if version is None else f"schema {version}"
        raise UserError(f"{path}: written by {age} scalestudy: {said}, this one reads {mine}; {update}{again}")
    where = ".".join(str(part) for part in first["loc"])
    raise UserError(f"{path}: {where}: {first['msg']}; {again}")


def write_document(path: Path, document: BaseModel) -> None:
    """Write a document completely or not at all. Numbers that are not finite become null."""
    write_text(path, document.model_dump_json(indent=1) + "\n")
