"""Reading a study: YAML or a mapping in, a `Study` out, or an error that names the key and what would be right."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from scalestudy.errors import UserError
from scalestudy.study.model import Study
from scalestudy.study.workloads import Model, Optimizer

_TAGGED = get_args(get_args(Model)[0]) + get_args(get_args(Optimizer)[0])


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
    location = [part for part in item["loc"] if part != "[key]"]
    # A tagged union puts its tag into the location; the user never wrote that as a key.
    location = [
        part
        for index, part in enumerate(location)
        if not (index and location[index - 1] in ("model", "data", "optimizer") and _is_tag(part))
    ]
    path = ".".join(str(part) for part in location)
    kind, message = item["type"], item["msg"].removeprefix("Value error, ")
    if kind == "extra_forbidden":
        message = "unknown key" + _suggestion(location)
    elif kind == "missing":
        message = "missing: this key is required"
    elif kind != "value_error":
        message = f"{message[0].lower()}{message[1:]}, not {item['input']!r}"
    return f"  {path + ': ' if path else ''}{message}"


def _is_tag(part: Any) -> bool:
    return part in {str(get_args(member.model_fields["type"].annotation)[0]) for member in _TAGGED}


def _suggestion(location: list[Any]) -> str:
    """'; did you mean X?' or the list of valid keys, for an unknown key at this place of the config."""
    model: Any = Study
    for part in location[:-1]:
        model = _step(model, part)
        if model is None:
            return ""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ""
    valid = list(model.model_fields)
    near = difflib.get_close_matches(str(location[-1]), valid, n=1)
    return f"; did you mean {near[0]}?" if near else f"; valid keys are {', '.join(valid)}"


def _step(model: Any, part: Any) -> Any:
    """The config class behind one step of a key path, or None where it cannot be told."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return model  # a step into a dictionary or list by its own key
    field = model.model_fields.get(str(part))
    if field is None:
        return None
    candidates = [field.annotation, *getattr(field.annotation, "__args__", ())]
    found = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
    return found[0] if len(found) == 1 else None
