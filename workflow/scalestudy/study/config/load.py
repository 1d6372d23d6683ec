"""Reading a study: YAML or a mapping in, a `Study` out, or an error that names the key and what would be right."""

import difflib
import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, Tag, ValidationError

from scalestudy.errors import RefusedStudyError, UserError
from scalestudy.study.config.study import Study
from scalestudy.study.config.sweep import expand_sweeps

_UNIONS = (Union, types.UnionType)


def load_study(*paths: str | Path) -> Study:
    """Study from a YAML file, or from several: each changes what the ones before it say, key by key.

    That is how `snakemake --configfile A B` merges them. Raises UserError where a file is missing, is no YAML
    mapping, or says something the model refuses.
    """
    return parse_study(with_planned_defaults(read_content(*paths)), source=" ".join(map(str, paths)))


def read_content(*paths: str | Path) -> dict[str, Any]:
    """What study files say, merged and not checked; raises UserError where one is missing or no YAML mapping."""
    content: dict[str, Any] = {}
    for path in paths:
        content = merge(content, _read(Path(path)))
    return content


def with_planned_defaults(content: Mapping[str, Any]) -> dict[str, Any]:
    """What a study's file says, with the version of the defaults that the study was planned with, if it was."""
    try:
        plan = json.loads((Path("results") / str(content["study"]) / "plan.json").read_text(encoding="utf-8"))
        return {"defaults": plan["study"].get("defaults", 1), **content}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return dict(content)  # not planned yet, or no plan: what is wrong with it is for others to say


def merge(content: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The content with the changes laid over it, mappings key by key; neither of them is changed."""
    merged = dict(content)
    for key, value in changes.items():
        known = merged.get(key)
        merged[key] = merge(known, value) if isinstance(value, Mapping) and isinstance(known, dict) else value
    return merged


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such study file") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(content, Mapping):
        raise UserError(f"{path}: a study file is a mapping of keys; config/README.md lists them")
    return dict(content)


def parse_json(text: str, *, source: str) -> Study:
    """Study from JSON text, as a Snakemake job carries its config."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UserError(f"{source}: not JSON: {error}") from None
    return parse_study(content, source=source)


def parse_study(content: Mapping[str, Any], *, source: str) -> Study:
    """Study from a mapping such as Snakemake's `config`; `source` names it in errors.

    A key that is null counts as not given: so a second file can take back what the first one says.
    """
    content = expand_sweeps(_without_nulls(content), source=source)
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        problems = [_line(item) for item in error.errors(include_url=False)]
        raise RefusedStudyError(source, problems) from None


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}


def _line(item: Any) -> str:
    """One line of an error: where, what is wrong, what would be right."""
    written, holder = _followed(item["loc"])
    path = ".".join(map(str, written))
    kind, message = item["type"], item["msg"].removeprefix("Value error, ")
    if kind == "extra_forbidden":
        message = "unknown key" + _suggestion(str(item["loc"][-1]), holder)
    elif kind == "missing":
        message = "missing: this key is required"
    elif kind != "value_error":
        message = f"{message[0].lower()}{message[1:]}, not {item['input']!r}"
    return f"{path + ': ' if path else ''}{message}"


def _followed(location: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """(key path as the user wrote it, type that its last part is in; None where that cannot be told).

    What is not the user's are the marks that pydantic adds for keys and for tagged unions.
    """
    written: list[Any] = []
    annotation, holder = Study, None
    for part in location:
        annotation, holder = _inside(annotation, part), _bare(annotation)
        if part != "[key]" and get_origin(holder) not in _UNIONS:
            written.append(part)
    return written, holder


def _suggestion(unknown: str, holder: Any) -> str:
    """'; did you mean X?' or the list of valid keys, for an unknown key of a model."""
    if not _is_model(holder):
        return ""
    valid = [field.alias or name for name, field in holder.model_fields.items()]
    # Other tools write the options of a part as one word: ddp_broadcast_buffers for ddp.broadcast_buffers.
    inner = {
        word: f"{name}.{key}"
        for name, field in holder.model_fields.items()
        if _is_model(field.annotation)
        for key in field.annotation.model_fields
        for word in (key, f"{name}_{key}")
    }
    meant = inner | {name: name for name in valid}
    near = difflib.get_close_matches(unknown, meant, n=1, cutoff=0.75)
    return f"; did you mean {meant[near[0]]}?" if near else f"; valid keys are {', '.join(valid)}"


def _bare(annotation: Any) -> Any:
    """A type without what is annotated to it."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _inside(annotation: Any, part: Any) -> Any:
    """The type behind one step of a key path; None where it cannot be told."""
    annotation = _bare(annotation)
    if _is_model(annotation):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    kinds = get_args(annotation)
    if get_origin(annotation) is dict:
        return kinds[1]
    if get_origin(annotation) is tuple:
        return kinds[0]
    if get_origin(annotation) in _UNIONS:  # the step is the tag that chose the member
        for kind in kinds:
            if any(isinstance(mark, Tag) and mark.tag == part for mark in get_args(kind)[1:]):
                return _bare(kind)
        tagged = [kind for kind in kinds if _is_model(kind) and "type" in kind.model_fields]
        return next((kind for kind in tagged if part in get_args(kind.model_fields["type"].annotation)), None)
    return None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
