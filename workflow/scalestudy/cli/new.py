"""Write a study file from the command line: every option of models, data, optimizers and variants is a flag.

    scalestudy new --model mlp --hidden-dim 1024 --num-layers 4 --batch-size 256 --strategy ddp --scales 1x2 1x4

An option that the chosen model, data, optimizer or strategy does not take is refused with those that it takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import yaml

from scalestudy.errors import UserError
from scalestudy.record.files import write_text
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.models import Model
from scalestudy.study.config.optimizers import Optimizer
from scalestudy.study.config.variants import Knobs
from scalestudy.study.config.workloads import Workload
from scalestudy.study.plan import make_plan

HELP = "write a study file from flags: --model mlp --hidden-dim 1024 --strategy ddp --scales 1x2"
DEFAULTS = {"model": "mlp", "data": "digits", "optimizer": "sgd"}
UNIONS = {"model": Model, "data": Data, "optimizer": Optimizer}
OF_A_WORKLOAD = ("batch_size", "epochs", "target_accuracy", "scaling")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--study", default="my-study", help="name of the study (default: my-study)")
    parser.add_argument("--scales", nargs="+", default=["1x2"], help="NODESxDEVICES (default: 1x2)")
    parser.add_argument("--repeats", type=int, help="launches of every point")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument(
        "--out", type=Path, help="write here instead of printing; what is there is not overwritten"
    )
    for part, union in UNIONS.items():
        kinds = [_type(kind) for kind in _kinds(union)]
        parser.add_argument(f"--{part}", choices=kinds, default=DEFAULTS[part], help=f"default: {DEFAULTS[part]}")
    for part, flags in _flags().items():
        group = parser.add_argument_group(part)
        for flag, (keys, meaning) in flags.items():
            group.add_argument(
                f"--{flag}", dest=".".join([part, *keys]), type=yaml.safe_load, metavar="VALUE", help=meaning
            )


def run(arguments: argparse.Namespace) -> int:
    if arguments.out and arguments.out.exists():
        raise UserError(f"--out {arguments.out}: is there already; name a new file")
    given: dict[str, Any] = {part: {"type": getattr(arguments, part)} for part in UNIONS}
    given |= {"workload": {"batch_size": 64, "epochs": 0}, "variant": {"strategy": "ddp"}}
    for name, value in vars(arguments).items():
        part, *keys = name.split(".")
        if keys and value is not None:
            _set(given[part], keys, value)
    workload = {part: given[part] for part in UNIONS} | given["workload"]
    study = {
        "study": arguments.study,
        "repeats": arguments.repeats,
        "scales": arguments.scales,
        "variants": _variants(given["variant"]),
        "workloads": {given["model"]["type"]: workload},
        "host": {"device": arguments.device},
    }
    study = {key: value for key, value in study.items() if value is not None}
    plan = make_plan(parse_study(study, source="scalestudy new"))  # refused now, not when it is run
    text = yaml.safe_dump(study, sort_keys=False, default_flow_style=None)
    if arguments.out:
        write_text(arguments.out, text)
        print(f"{arguments.out}: {len(plan.runs)} launches; snakemake --configfile {arguments.out}")
    else:
        print(text, end="")
    return 0


def _variants(knobs: dict[str, Any]) -> dict[str, Any]:
    """The variant asked for, and one process with the same settings to compare it with."""
    strategy = knobs["strategy"]
    single = {key: value for key, value in knobs.items() if key not in ("ddp", "fsdp", "accumulation_sync")}
    base = {"single": single | {"strategy": "single"}}
    return base if strategy == "single" else base | {strategy: knobs}


def _flags() -> dict[str, dict[str, tuple[list[str], str]]]:
    """Flags of each part: name -> (keys, meaning). A name that two parts have gets that of its part before it."""
    flags: dict[str, dict[str, tuple[list[str], str]]] = {}
    taken = {"study", "scales", "repeats", "device", "out", "help", *UNIONS}
    sources = {part: _kinds(union) for part, union in UNIONS.items()} | {
        "workload": (Workload,),
        "variant": (Knobs,),
    }
    for part, kinds in sources.items():
        flags[part] = {}
        for keys, meaning in _fields(kinds):
            if part == "workload" and keys[0] not in OF_A_WORKLOAD:
                continue
            name = "-".join(keys).replace("_", "-")
            if name in taken and name not in flags[part]:
                name = f"{part}-{name}"
            taken.add(name)
            flags[part].setdefault(name, (keys, meaning))
    return flags


def _fields(kinds: tuple[type[Entry], ...]) -> Iterator[tuple[list[str], str]]:
    for kind in kinds:
        for name, field in kind.model_fields.items():
            if isinstance(field.default, Entry):
                yield from (([name, *inner], meaning) for inner, meaning in _fields((type(field.default),)))
            elif name != "type":
                whose = f" ({_type(kind)})" if "type" in kind.model_fields else ""
                meaning = " ".join((field.description or "").split()).split(". ")[0]
                yield [name], f"{meaning}{whose}".replace("%", "%%")


def _kinds(union: Any) -> tuple[type[Entry], ...]:
    return get_args(get_args(union)[0])


def _type(kind: type[Entry]) -> str:
    return get_args(kind.model_fields["type"].annotation)[0]


def _set(content: dict[str, Any], keys: list[str], value: Any) -> None:
    *parents, last = keys
    for key in parents:
        content = content.setdefault(key, {})
    content[last] = value
