"""`scalestudy new`: writes a study file. Every key of models, data, optimizers and variants is an option.

The options are made from the JSON schema of the config, which loads much faster than the models themselves. A test
ensures that the two agree.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several, Verb
from scalestudy.cli.quantities import Scale
from scalestudy.errors import UserError
from scalestudy.project import root

SCHEMA = root() / "workflow/schemas/config.schema.json"
DEFAULTS = {"model": "mlp", "data": "digits", "optimizer": "sgd"}
OF_A_WORKLOAD = ("batch_size", "epochs", "target_accuracy", "scaling")
OWN = ("name", "scales", "repeats", "device", "out", "help", *DEFAULTS)
VALUE = "VALUE"
NO_FLAGS = ("base", "environment", "sweep", "arguments", "launcher", "start")
"""Keys of a variant that can be set only in the file."""


class Flag(click.Option):
    """An option for a key of the study; its value is YAML."""

    def __init__(self, part: str, keys: list[str], name: str, value: str, meaning: str) -> None:
        super().__init__(["__".join([part, *keys]), f"--{name}"], metavar=value, help=meaning)
        self.part = part
        self.keys = keys


class New(Verb):
    """A command with an option for every key, listed in its help by part of the study."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if not any(isinstance(param, Flag) for param in self.params):
            self.params += _flags()
        return super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                title = f"Options of the {param.part}" if isinstance(param, Flag) else "Options"
                parts.setdefault(title, []).append(record)
        for title, records in parts.items():
            with formatter.section(title):
                formatter.write_dl(records)


@click.command(cls=New, short_help="Write a study file from command-line options.")
@click.option("--name", default="my-study", help="Name of the study.")
@click.option(
    "--scales",
    cls=Several,
    type=Scale(),
    metavar="NODESxDEVICES...",
    help="Default: 1x2, or 1x1 for a single process.",
)
@click.option("--repeats", type=int, help="Runs per point.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help=options.DEVICE)
@options.path("--out", metavar="FILE", help="Write here instead of printing. No file is overwritten.")
def new(
    name: str,
    scales: tuple[str, ...],
    repeats: int | None,
    device: str,
    out: Path | None,
    model: str,
    data: str,
    optimizer: str,
    **values: str | None,
) -> int:
    """Write a study file. Every key of models, data, optimizers and variants is an option.

    \b
    scalestudy new --model mlp --hidden-dim 1024 --num-layers 4 --batch-size 256 \\
        --strategy ddp --scales 1x2 1x4

    An option that does not apply to the chosen model, data, optimizer or strategy is refused.
    """
    import yaml

    from scalestudy.cli.plan.cost import launches_in_all
    from scalestudy.record.files import write_text
    from scalestudy.study.config.load import parse_written
    from scalestudy.study.config.sweep import write_at
    from scalestudy.study.config.yaml_file import read_value
    from scalestudy.study.plan import make_plan

    if out and out.exists():
        raise UserError(f"--out {out}: already exists; name a new file")
    parts: dict[str, dict[str, Any]] = {
        "model": {"type": model},
        "data": {"type": data},
        "optimizer": {"type": optimizer},
        "workload": {"batch_size": 64, "epochs": 0},
        "variant": {"strategy": "ddp"},
    }
    for flag, value in values.items():
        if value is not None:
            part, *keys = flag.split("__")
            write_at(parts[part], keys, read_value(value, source=_option(flag)), "scalestudy new")
    workload = {part: parts[part] for part in DEFAULTS} | parts["workload"]
    study = {
        "study": name,
        "repeats": repeats,
        "scales": list(scales) or ["1x1" if parts["variant"]["strategy"] == "single" else "1x2"],
        "variants": _variants(parts["variant"]),
        "workloads": {model: workload},
        "host": {"device": device},
        "measure": {"floor": True},
    }
    study = {key: value for key, value in study.items() if value is not None}
    plan = make_plan(parse_written(study, source="scalestudy new"))  # refused now, not when it is run
    text = yaml.safe_dump(study, sort_keys=False, default_flow_style=None)
    if out:
        write_text(out, text)
        print(f"{out}: {launches_in_all(plan)}; scalestudy run --study {out}")
    else:
        print(text, end="")
    return 0


def _option(flag: str) -> str:
    """Return the option of a key: `--ddp-bucket-cap-mb` for `variant__ddp__bucket_cap_mb`."""
    return next((one.opts[0] for one in _flags() if one.name == flag), flag)


def _variants(knobs: dict[str, Any]) -> dict[str, Any]:
    """Return the requested variant and its baseline, a single process with the same settings."""
    strategy = knobs["strategy"]
    if not isinstance(strategy, str):
        raise UserError(f"--strategy {strategy}: not the name of a strategy, such as ddp")
    single = {key: value for key, value in knobs.items() if key not in ("ddp", "fsdp", "accumulation_sync")}
    base = {"single": single | {"strategy": "single"}}
    return base if strategy == "single" else base | {strategy: knobs}


def _flags() -> Iterator[click.Option]:
    """Yield an option for the type of each part that has types, then an option for each key.

    If two parts have the same key, the second option gets the name of its part as a prefix.
    """
    kinds = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    workload = kinds["Workload"]["properties"]
    sources = {part: [kinds[_name(kind)] for kind in workload[part]["oneOf"]] for part in DEFAULTS}
    for part, members in sources.items():
        types = click.Choice([member["properties"]["type"]["const"] for member in members])
        yield click.Option([f"--{part}"], type=types, default=DEFAULTS[part])
    sources["workload"] = [{"properties": {key: workload[key] for key in OF_A_WORKLOAD}}]
    sources["variant"] = [kinds["Variant"]]
    flags: dict[str, Flag] = {}
    for part, members in sources.items():
        for keys, value, meaning in _fields(members, kinds):
            name = "-".join(keys).replace("_", "-")
            if name in OWN or (name in flags and flags[name].part != part):
                name = f"{part}-{name}"
            flags.setdefault(name, Flag(part, keys, name, value, meaning))
    yield from flags.values()


def _fields(members: list[dict[str, Any]], kinds: dict[str, Any]) -> Iterator[tuple[list[str], str, str]]:
    """Yield (key path, what its value is, its meaning) for each field of any member.

    The meaning names the types that have the field, if not all members do.
    """
    for member in members:
        for key, field in member["properties"].items():
            if "$ref" in field:
                inner = _fields([kinds[_name(field)]], kinds)
                yield from (([key, *keys], value, meaning) for keys, value, meaning in inner)
            elif key != "type" and key not in NO_FLAGS:
                having = [one["properties"] for one in members if key in one["properties"]]
                told = [_told(properties[key]) for properties in having]
                value = told[0][0] if len({value for value, _ in told}) == 1 else VALUE
                by_meaning: dict[str, list[str]] = {}
                for properties, (_, meaning) in zip(having, told, strict=True):
                    by_meaning.setdefault(meaning, []).append(properties.get("type", {}).get("const", ""))
                if len(having) < len(members) or len(by_meaning) > 1:
                    yield [key], value, "; ".join(f"{said} ({', '.join(of)})" for said, of in by_meaning.items())
                else:
                    yield [key], value, told[0][1]


def _told(field: dict[str, Any]) -> tuple[str, str]:
    """Return (choices of a field, or VALUE; its first sentence, or its text if that explains the choices)."""
    choices = field.get("enum") or [choice for one in field.get("anyOf", ()) for choice in one.get("enum", ())]
    whole = " ".join(field.get("description", "").split())
    first = whole.split(". ")[0].removesuffix(".")
    return "|".join(map(str, choices)) or VALUE, whole if choices and first.startswith("`") else first


def _name(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]
