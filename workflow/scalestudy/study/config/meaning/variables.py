"""Environment variables that the launcher sets itself, or that contradict the study."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.conditions import THREAD_VARIABLES
from scalestudy.study.config.meaning.facts import compared_with, distributed, repeated, scripts
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study

OF_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
NO_COMPILE = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")
DEVICES = "CUDA_VISIBLE_DEVICES"
OF_NCCL = ("P2P_DISABLE", "SHM_DISABLE", "IB_DISABLE", "DEBUG", "ALGO", "PROTO", "SOCKET_IFNAME", "IB_HCA")
KNOWN = (*THREAD_VARIABLES, *NO_COMPILE, DEVICES, *(f"NCCL_{name}" for name in OF_NCCL))
NAMES_SOMETHING = ("PATH", "HOME", "TMPDIR", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
MOST_THREADS = 1000
SWITCHES = (*NO_COMPILE, "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE")
VALUES = {
    **dict.fromkeys(SWITCHES, (re.compile("[01]"), "0 or 1")),
    "NCCL_DEBUG": (re.compile("version|warn|info|abort|trace", re.IGNORECASE), "VERSION, WARN, INFO or TRACE"),
    "NCCL_PROTO": (re.compile(r"\^?(ll|ll128|simple)(,(ll|ll128|simple))*", re.IGNORECASE), "LL, LL128 or Simple"),
    "NCCL_ALGO": (
        re.compile("(?=.*(ring|tree|collnet|nvls|pat)).*", re.IGNORECASE),
        "Ring or Tree, for instance,",
    ),
    "PYTHONHASHSEED": (re.compile(r"random|\d{1,10}"), "a whole number or random"),
}
"""Variable -> (form of its values, what is expected): others are ignored, or no rank starts with them."""
ALMOST = 0.93
"""Similarity of two names that differ by one letter of fifteen."""
OF_GPUS = ("NCCL_", "CUDA_", "TORCH_NCCL_")
A_DEVICE = re.compile(r"-?\d+|(GPU|MIG)-[\w./-]+")
HIDES_ALL = ("", "-1")
HOMES = (sys.prefix, sys.base_prefix)


def wrong_variables(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each variable that would be overwritten, or with which a run cannot be what the study says."""
    for path, environment in _environments(study):
        if not _starts_ranks(study):
            for name in OF_LAUNCHER:
                if name in environment:
                    yield f"{path}.{name}: the launcher sets this variable for every rank; leave it out"
        yield from _misspelt(path, environment)
        yield from _of_gpus(study, path, environment)
        yield from _of_ranks(study, path, environment)
        yield from _of_python(path, environment)
        yield from _compiled(study, path, environment)
        yield from _hidden(study, path, environment)


def _environments(study: Study) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "host.environment", study.host.environment
    for name, variant in study.variants.items():
        yield f"variants.{name}.environment", variant.environment
    for name, script in scripts(study).items():
        yield f"workloads.{name}.environment", script.environment


def _starts_ranks(study: Study) -> bool:
    """Whether a script may start its ranks itself, and read where they meet from its environment."""
    return bool(scripts(study)) and any(study.variants[name].launcher == "python" for name in distributed(study))


def _misspelt(path: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Names that differ from a variable of this study's tools in case, or by a letter."""
    for name in environment:
        if name not in KNOWN and (near := difflib.get_close_matches(name.upper(), KNOWN, n=1, cutoff=ALMOST)):
            yield f"{path}.{name}: no library reads this variable; did you mean {near[0]}?"


def _of_gpus(study: Study, path: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Variables of NCCL and CUDA where the ranks train on CPUs. A script chooses its device itself."""
    if study.host.device != "cpu" or scripts(study):
        return
    for name, value in environment.items():
        if name.startswith(OF_GPUS) and not (name == DEVICES and value in HIDES_ALL):
            yield (
                f"{path}.{name}: has no effect with host.device: cpu, which uses neither CUDA nor NCCL; leave it"
                " out"
            )


def _of_ranks(study: Study, path: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Variables of NCCL that only single processes see, and that no variant compared with one has."""
    section, _, name = path.removesuffix(".environment").partition(".")
    if section == "workloads" or (section == "host" and (distributed(study) or scripts(study))):
        return
    if section == "variants" and (name not in study.singles() or study.variants[name].launcher == "torchrun"):
        return
    others = [study.variants[one].environment for one in compared_with(study, name)] if name else []
    for variable in (one for one in environment if one.startswith(("NCCL_", "TORCH_NCCL_"))):
        if not any(variable in other for other in others):
            yield (
                f"{path}.{variable}: has no effect, since one process sends nothing; leave it out, or set it for a"
                " ddp or fsdp variant"
            )


def _of_python(path: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Values that no rank starts with, or that are ignored."""
    if (home := environment.get("PYTHONHOME")) is not None and home not in HOMES:
        yield (
            f"{path}.PYTHONHOME: {shown(home)} is not the home of the Python that runs the study"
            f" ({sys.base_prefix}), so no rank would start; leave it out"
        )
    for name in NAMES_SOMETHING:
        if name in environment and not environment[name].strip():
            yield f"{path}.{name}: {shown(environment[name])} names nothing; write a value, or leave it out"
    for name, (form, expected) in VALUES.items():
        if name in environment and not form.fullmatch(environment[name]):
            yield f"{path}.{name}: {expected} is expected, not {shown(environment[name])}"
    for name in THREAD_VARIABLES:
        if (value := environment.get(name, "")).isdigit() and int(value) > MOST_THREADS:
            yield f"{path}.{name}: {value} threads are more than any host has; use {MOST_THREADS} or fewer"


def _compiled(study: Study, path: str, environment: Mapping[str, str]) -> Iterator[str]:
    for name in NO_COMPILE:
        if environment.get(name) != "1":
            continue
        mine = [study.variants[path.split(".")[1]]] if path.startswith("variants.") else study.variants.values()
        if any(variant.compile for variant in mine):
            yield f"{path}.{name}: switches off what compile: true asks for; leave out one of them"


def _hidden(study: Study, path: str, environment: Mapping[str, str]) -> Iterator[str]:
    """CUDA devices that a scale needs and that the variable hides."""
    if DEVICES not in environment or study.host.device != "cuda":
        return
    listed = [one.strip() for one in environment[DEVICES].split(",")]
    wrong = [one for one in listed if not A_DEVICE.fullmatch(one)] or [*repeated(tuple(listed))]
    if wrong and environment[DEVICES].strip():
        yield (
            f"{path}.{DEVICES}: {shown(environment[DEVICES])} is not a list of different devices; write their"
            " numbers with commas, such as '0,1'"
        )
        return
    seen = next((at for at, one in enumerate(listed) if one in ("", "-1")), len(listed))
    single = path.startswith("variants.") and path.split(".")[1] in study.singles()
    wide = max((nodes_and_devices(scale)[1] for scale in study.scales if distributed(study)), default=1)
    needed = 1 if single else wide
    if seen < needed:
        yield (
            f"{path}.{DEVICES}: '{environment[DEVICES]}' shows {seen} of the {needed} devices that a node needs;"
            " list them all, or leave it out"
        )
