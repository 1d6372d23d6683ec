"""Reading a study: YAML or a mapping in, a `Study` out, or an error that names the key and what would be right."""

from __future__ import annotations

import difflib
import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from scalestudy.errors import UserError
from scalestudy.study.model import Study

_UNIONS = (Union, types.UnionType)


def load_study(path: str | Path) -> Study:
    """Study from a YAML file.

    Raises UserError where the file is missing, is no YAML mapping, or says something the model refuses.
    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such study file") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(content, Mapping):
        raise UserError(f"{path}: a study file is a mapping of keys; config/README.md lists them")
    return parse_study(content, source=str(path))


def parse_json(text: str, *, source: str) -> Study:
    """Study from JSON text, as a Snakemake job carries its config."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UserError(f"{source}: not JSON: {error}") from None
    return parse_study(content, source=source)


def parse_study(content: Mapping[str, Any], *, source: str) -> Study:
    """Study from a mapping such as Snakemake's `config`; `source` names it in errors."""
    try:
        return Study.model_validate(dict(content))
    except ValidationError as error:
        lines = [_line(item) for item in error.errors(include_url=False)]
        raise UserError(f"{source}: the study is refused\n" + "\n".join(lines)) from None


def _line(item: Any) -> str:
    """One line of an error: where, what is wrong, what would be right."""
    location = _as_written(item["loc"])
    path = ".".join(str(part) for part in location)
    kind, message = item["type"], item["msg"].removeprefix("Value error, ")
    if kind == "extra_forbidden":
        message = "unknown key" + _suggestion(item["loc"])
    elif kind == "missing":
        message = "missing: this key is required"
    elif kind != "value_error":
        message = f"{message[0].lower()}{message[1:]}, not {item['input']!r}"
    return f"  {path + ': ' if path else ''}{message}"


def _as_written(location: tuple[Any, ...]) -> list[Any]:
    """The key path as the user wrote it: without the marks that pydantic adds for keys and for tagged unions."""
    written, annotation = [], Study
    for part in location:
        is_tag = get_origin(annotation) in _UNIONS
        annotation = _inside(annotation, part)
        if part != "[key]" and not is_tag:
            written.append(part)
    return written


def _suggestion(location: tuple[Any, ...]) -> str:
    """'; did you mean X?' or the list of valid keys, for an unknown key at this place of the config."""
    annotation: Any = Study
    for part in location[:-1]:
        annotation = _inside(annotation, part)
    if not _is_model(annotation):
        return ""
    valid = list(annotation.model_fields)
    near = difflib.get_close_matches(str(location[-1]), valid, n=1)
    return f"; did you mean {near[0]}?" if near else f"; valid keys are {', '.join(valid)}"


def _inside(annotation: Any, part: Any) -> Any:
    """The type behind one step of a key path; None where it cannot be told."""
    if _is_model(annotation):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    if get_origin(annotation) is tuple:
        return arguments[0]
    if get_origin(annotation) in _UNIONS:  # the step is the tag that chose the member
        members = {get_args(m.model_fields["type"].annotation)[0]: m for m in arguments if _is_tagged(m)}
        return members.get(part)
    return None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _is_tagged(annotation: Any) -> bool:
    return _is_model(annotation) and "type" in annotation.model_fields
