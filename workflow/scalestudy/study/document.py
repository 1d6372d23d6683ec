"""The documentation of the config, generated from its model: JSON schema and `config/README.md`."""

from __future__ import annotations

import json
import types
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from scalestudy.study.model import Host, Measure, Report, Study, Variant
from scalestudy.study.workloads import (
    AdamOptimizer,
    ConvnetModel,
    DigitsData,
    Entry,
    MlpModel,
    SgdOptimizer,
    Workload,
)

SECTIONS: tuple[tuple[str, type[Entry]], ...] = (
    ("The study", Study),
    ("`workloads.NAME`", Workload),
    ("`workloads.NAME.model` with `type: mlp`", MlpModel),
    ("`workloads.NAME.model` with `type: convnet`", ConvnetModel),
    ("`workloads.NAME.data` with `type: digits`", DigitsData),
    ("`workloads.NAME.optimizer` with `type: sgd`", SgdOptimizer),
    ("`workloads.NAME.optimizer` with `type: adam`", AdamOptimizer),
    ("`variants.NAME`", Variant),
    ("`host`", Host),
    ("`measure`", Measure),
    ("`report`", Report),
)

INTRODUCTION = """\
# Configuration

A study is one YAML file. `config.yaml` is the one that runs by default; give another with
`snakemake --configfile FILE`. The file holds science only: cores, partitions and accounts
stand in the profiles (`profiles/`), so that the same study runs on a laptop and on a cluster.

A key that is not listed here is refused, and so is a value that cannot work (a batch that does not
divide among the ranks, say), before anything runs.

<!-- Generated from the config model by `scalestudy schema`; a test keeps it in step. -->
"""


def schema_text() -> str:
    """JSON schema of the config, as the text of its file."""
    schema = Study.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "scalestudy configuration"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def readme_text() -> str:
    """`config/README.md`: a table of keys for every part of the config."""
    parts = [INTRODUCTION]
    for title, model in SECTIONS:
        parts.append(f"## {title}\n\n{_first_line(model.__doc__)}\n")
        parts.append("| key | type | default | meaning |\n| --- | --- | --- | --- |")
        parts.extend(_row(name, field) for name, field in model.model_fields.items())
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _row(name: str, field: FieldInfo) -> str:
    meaning = " ".join((field.description or "").split())
    if name == "type":
        meaning = "Chooses this kind."
    kind = _type(field.annotation) + _bounds(field)
    return f"| `{name}` | {kind} | {_default(field)} | {meaning} |"


def _first_line(doc: str | None) -> str:
    return " ".join((doc or "").split("\n\n")[0].split())


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, Entry):
        return "see below"
    if isinstance(value, tuple):
        value = list(value)
    return f"`{json.dumps(value)}`"


def _bounds(field: FieldInfo) -> str:
    signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    found = [
        f"{signs[key]} {getattr(item, key)}"
        for item in field.metadata
        for key in signs
        if getattr(item, key, None) is not None
    ]
    return f", {', '.join(found)}" if found else ""


def _type(annotation: Any) -> str:
    """A type as a reader of YAML would say it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        kinds = dict.fromkeys(_type(a) for a in arguments if a is not type(None))
        return " or ".join(kinds)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"mapping of name to {_type(arguments[1])}"
    if origin is not None:  # Annotated
        return _type(arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, Entry):
        return "mapping"
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return plain.get(annotation, str(annotation))
