"""The documentation of the config, generated from its model: JSON schema and `config/README.md`."""

import json
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.conditions import Host
from scalestudy.study.config.datasets import AgNewsFiles, Data, FetchedFile
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.imported import ImportedWorkload
from scalestudy.study.config.models import Model
from scalestudy.study.config.optimizers import Optimizer
from scalestudy.study.config.report import Report
from scalestudy.study.config.spoiled import SpoiledFrom
from scalestudy.study.config.stopping import Gain, Setting, StudyMeasure
from scalestudy.study.config.study import Study
from scalestudy.study.config.tune import Tune
from scalestudy.study.config.variants import DdpOptions, FsdpOptions, InputOptions, Variant
from scalestudy.study.config.verify import Verify
from scalestudy.study.config.workloads import Workload


def _kinds(key: str, union: Any) -> Iterator[tuple[str, type[Entry]]]:
    """A section for every kind of an entry with a `type`."""
    for kind in get_args(get_args(union)[0]):
        yield f"`workloads.NAME.{key}` with `type: {get_args(kind.model_fields['type'].annotation)[0]}`", kind


SECTIONS: tuple[tuple[str, type[Entry]], ...] = (
    ("The study", Study),
    ("`workloads.NAME`", Workload),
    *_kinds("model", Model),
    *_kinds("data", Data),
    ("`workloads.NAME.data.files`", AgNewsFiles),
    ("`workloads.NAME.data.files.train` and `workloads.NAME.data.files.test`", FetchedFile),
    *_kinds("optimizer", Optimizer),
    ("`workloads.NAME` of a script", CommandWorkload),
    ("`workloads.NAME` of imported logs", ImportedWorkload),
    ("`variants.NAME`", Variant),
    ("`variants.NAME.ddp`", DdpOptions),
    ("`variants.NAME.fsdp`", FsdpOptions),
    ("`variants.NAME.input`", InputOptions),
    ("`host`", Host),
    ("`measure`", StudyMeasure),
    ("`measure.gains`", Gain),
    ("`measure.gains.before` and `measure.gains.after`", Setting),
    ("`report`", Report),
    ("`report.spoiled`", SpoiledFrom),
    ("`verify`", Verify),
    ("`tune`", Tune),
)

INTRODUCTION = """\
# Configuration

The Python that runs Snakemake needs torch and the package: `pip install torch 'scalestudy[study]'`, with the
build of torch that fits the machine. `snakemake` then runs the study in `config/config.yaml`, also after
`snakedeploy deploy-workflow`, and `snakemake --report report.zip` packs its results. A deployed workflow always
reads `config/config.yaml`: edit this file.

A study is one YAML file. `config.yaml` is the default; choose another with `snakemake --configfile FILE`.
The file describes only the experiment. Cores, partitions and accounts are in the profiles (`profiles/`), so
that the same study runs on a laptop and on a cluster.

The key `sweep` expands a variant or workload into several: `sweep: {ddp.bucket_cap_mb: [5, 25, 100]}` creates
one for each value, named `NAME-bucket-cap-mb-5` and so on. If several keys are swept, it creates one for each
combination.

Unknown keys are refused before anything runs, and so are values that cannot work, such as a batch that
does not divide among the ranks.

<!-- Generated from the config model by `scalestudy stage schema`; a test keeps it in step. -->
"""


def schema_text() -> str:
    """JSON schema of the config, as the text of its file."""
    schema = Study.model_json_schema()
    for part in ("Variant", "Workload"):
        schema["$defs"][part]["properties"]["sweep"] = {
            "type": "object",
            "additionalProperties": {"type": "array", "minItems": 1},
            "description": "Keys with lists of values: this entry defines one entry for each combination.",
        }
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "scalestudy configuration"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def readme_text() -> str:
    """`config/README.md`: a table of the own keys of every part of the config."""
    parts = [INTRODUCTION]
    documented = {model for _, model in SECTIONS}
    for title, model in SECTIONS:
        inherited = {name for base in model.__mro__[1:] if base in documented for name in base.model_fields}
        parts.append(f"## {title}\n\n{_first_line(model.__doc__)}\n")
        parts.append("| key | type | default | meaning |\n| --- | --- | --- | --- |")
        fields = sorted(
            (
                (field.alias or name, field)
                for name, field in model.model_fields.items()
                if name not in inherited or name in model.__annotations__
            ),
            key=lambda item: item[0] != "type",
        )
        parts.extend(_row(name, field) for name, field in fields)
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _row(name: str, field: FieldInfo) -> str:
    meaning = " ".join((field.description or "").split())
    if name == "type":
        meaning = "Selects this kind."
    kind = _type(field.annotation) + _bounds(field)
    return f"| `{name}` | {kind} | {_default(field)} | {meaning} |"


def _first_line(doc: str | None) -> str:
    return " ".join((doc or "").split("\n\n")[0].split())


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
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
    """A type in words for a writer of YAML."""
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
    plain = {Any: "any value", str: "text", int: "whole number", float: "number", bool: "true or false"}
    return plain.get(annotation, str(annotation))
