"""Reading a study: from YAML or a mapping to a `Study`, or to an error with the key and what would be right."""

import difflib
import json
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError

from scalestudy.errors import RefusedStudyError, UserError
from scalestudy.study.config.meaning import meaningless
from scalestudy.study.config.meaning.buckets import needless_of_ddp
from scalestudy.study.config.origin import is_ours, planned_content, with_planned_defaults
from scalestudy.study.config.refusals import shown, too_large, words
from scalestudy.study.config.study import Study
from scalestudy.study.config.sweep import expand_sweeps
from scalestudy.study.config.yaml_file import read_yaml
from scalestudy.study.secrets import written_secrets

_UNIONS = (Union, types.UnionType)
EXTRA = "extra_forbidden"


def load_study(*paths: str | Path) -> Study:
    """Study from a YAML file, or from several: each file overrides keys of the files before it.

    `snakemake --configfile A B` merges files in the same way. Raises UserError if a file is missing, is not a YAML
    mapping, or is refused.
    """
    source = " ".join(map(str, paths))
    return parse_written(with_planned_defaults(read_content(*paths)), source=source, files=paths)


def read_content(*paths: str | Path) -> dict[str, Any]:
    """The merged content of study files, unchecked. Raises UserError if one is missing or is not a YAML
    mapping."""
    content: dict[str, Any] = {}
    for path in paths:
        content = merge(content, read_yaml(Path(path)))
    return content


def merge(content: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The content overridden by the changes, mappings key by key. Neither argument is changed."""
    merged = dict(content)
    for key, value in changes.items():
        known = merged.get(key)
        merged[key] = merge(known, value) if isinstance(value, Mapping) and isinstance(known, dict) else value
    return merged


def parse_json(text: str, *, source: str) -> Study:
    """Study from JSON text, the form in which a Snakemake job gets its config."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UserError(f"{source}: not JSON: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{source}: a study is a mapping of keys, not {shown(content)}")
    return parse_study(content, source=source)


def parse_study(content: Mapping[str, Any], *, source: str) -> Study:
    """Study from a mapping such as Snakemake's `config`; `source` names it in errors.

    A key that is null counts as not given, so that a second file can remove a key of the first. A value must have
    the type of its key: neither `true` nor "3" is a number.
    """
    content, swept = _plain(content), None
    try:
        content = expand_sweeps(content, source=source)
    except RefusedStudyError as error:
        swept = error
    found = list(written_secrets(content))
    try:
        study = _validated(content)
    except ValidationError as error:
        wrong = [item for item in error.errors(include_url=False) if not (swept and _of_a_sweep(item, content))]
        found += [line for item in wrong if not _follows(item, wrong) for line in _lines(item)]
        found += _also_wrong(content, error) if not swept else []
    large = list(too_large(content))
    keys = {line.partition(":")[0] for line in large}
    found = [line for line in found if line.partition(":")[0] not in keys]
    problems = [*(swept.problems if swept else ()), *large, *found]
    if problems:
        raise RefusedStudyError(source, list(dict.fromkeys(problems)))
    return study


def _validated(content: Mapping[str, Any]) -> Study:
    try:
        return Study.model_validate(content, strict=True)
    except ValidationError as error:
        return Study.model_validate(_with_powers(content, error), strict=True)


_BY_THEMSELVES = {"verify", "tune", "measure", "description", "seed", "profile", "allocations", "most_launches"}
_BY_THEMSELVES |= {"accept_large_numbers"}
_BY_THEMSELVES |= {"time_limit_min", "start_limit_s", "stall_limit_s", "allocation_limit_min"}
_REPEATS = {"repeats", "max_repeats"}
_BY_THEMSELVES |= _REPEATS
"""Keys of a study without which nothing else becomes wrong, other keys of repeats aside."""


def _also_wrong(content: Mapping[str, Any], error: ValidationError) -> list[str]:
    """What else is wrong with a study, where all that was found is in keys that can be left out meanwhile."""
    items = error.errors(include_url=False)
    if not all(item["type"] == EXTRA or {*item["loc"][:1]} & _BY_THEMSELVES for item in items):
        return []
    rest = deepcopy(dict(content))
    for item in items:
        *parents, last = _followed(item["loc"])[0] if item["type"] == EXTRA else item["loc"][:1]
        node: Any = rest
        for key in parents:
            node = node[key] if isinstance(node, dict) and key in node else {}
        if isinstance(node, dict):
            node.pop(last, None)
    try:
        _validated(rest)
    except ValidationError as others:
        mine = [item for item in others.errors(include_url=False) if item["type"] == "value_error"]
        lines = [line for item in mine for line in _lines(item)]
        return [line for line in lines if line.partition(":")[0] not in {*_REPEATS, "most_launches"}]
    return []


def _follows(item: Any, others: Sequence[Any]) -> bool:
    """Whether a list is too short only because its entries are wrong."""
    at = item["loc"]
    return item["type"] == "too_short" and any(
        len(other["loc"]) > len(at) and other["loc"][: len(at)] == at for other in others
    )


def parse_written(
    content: Mapping[str, Any], *, source: str, files: Sequence[str | Path] = (), results: Path | None = None
) -> Study:
    """As `parse_study`, for what a user wrote: keys that have no effect beside the others are refused, too.

    A study that was planned exactly like this is accepted, since an earlier release accepted it. So is a study
    that one of our commands wrote. files: that the content is from. results: the folder of the study's results,
    where it is not results/STUDY.
    """
    study = parse_study(content, source=source)
    problems = meaningless(study, content)
    if len(files) < 2:
        problems += needless_of_ddp(study)
    if problems and not _is_planned(study, results) and not any(map(is_ours, files)):
        raise RefusedStudyError(source, problems)
    return study


def _is_planned(study: Study, results: Path | None) -> bool:
    """Whether a study was planned here exactly like this, by this release or by an earlier one with fewer keys."""
    planned = planned_content(study.name, results)
    try:
        return planned is not None and parse_study({"defaults": 1, **planned}, source="plan.json") == study
    except UserError:
        return False


def _of_a_sweep(item: Any, content: Mapping[str, Any]) -> bool:
    """Whether an error may come from an entry that was not expanded because its sweep is wrong."""
    section, name = (*item["loc"], None, None)[:2]
    entries = content.get(section)
    entry = entries.get(name) if isinstance(entries, Mapping) else None
    by_sweep = item["type"] == "missing" or item["loc"][-1] == "sweep"
    return item["type"] == "value_error" or (by_sweep and isinstance(entry, Mapping) and "sweep" in entry)


def _plain(value: Any) -> Any:
    """The value without keys that are null, and with tuples instead of lists."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


_POWER = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
"""A number of YAML 1.2 that is text in YAML 1.1, which PyYAML reads: without a point, or without a sign."""


def _with_powers(content: Mapping[str, Any], error: ValidationError) -> dict[str, Any]:
    """The content with texts such as 1e-3 as numbers where a number is expected."""
    changed = deepcopy(dict(content))
    for item in error.errors(include_url=False):
        if item["type"] == "float_type" and isinstance(item["input"], str) and _POWER.fullmatch(item["input"]):
            *parents, last = _followed(item["loc"])[0]
            node: Any = changed
            for key in parents:
                node = node[key]
            if isinstance(node, dict):
                node[last] = float(item["input"])
    return changed


_BEGINS_WITH_A_KEY = re.compile(r"[a-z_][\w.-]*: ")


def _lines(item: Any) -> Iterator[str]:
    """The lines of an error, mostly one: where, what is wrong, what would be right."""
    written, holder = _followed(item["loc"])
    path = ".".join(map(str, written))
    kind, messages = item["type"], item["msg"].removeprefix("Value error, ").splitlines()
    if kind == EXTRA:
        messages = ["unknown key" + _suggestion(str(item["loc"][-1]), holder)]
    elif kind == "missing":
        messages = ["missing: this key is required"]
    elif kind != "value_error":
        ours = words(kind, item.get("ctx", {}), item["input"])
        messages = [ours or f"{shown(item['input'])} is not a value of this key"]
    for message in messages:
        # A rule of an entry begins with the key within it.
        within = kind == "value_error" and _BEGINS_WITH_A_KEY.match(message)
        yield f"{path + ('.' if within else ': ') if path else ''}{message}"


def _followed(location: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """(key path as the user wrote it, type that has its last part; None if that is unknown).

    The path leaves out the marks that pydantic adds for keys and for tagged unions.
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
    near = difflib.get_close_matches(unknown.lower(), meant, n=1, cutoff=0.75)
    return f"; did you mean {meant[near[0]]}?" if near else f"; valid keys are {', '.join(valid)}"


def _bare(annotation: Any) -> Any:
    """A type without its annotations, and without `None`."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    kinds = [kind for kind in get_args(annotation) if kind is not types.NoneType]
    return _bare(kinds[0]) if get_origin(annotation) in _UNIONS and len(kinds) == 1 else annotation


def _inside(annotation: Any, part: Any) -> Any:
    """The type behind one step of a key path; None if it is unknown."""
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
