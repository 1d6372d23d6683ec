"""Environment variables that the launcher sets itself, or that contradict the study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.meaning.facts import distributed, scripts
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study

OF_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
NO_COMPILE = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")
DEVICES = "CUDA_VISIBLE_DEVICES"


def wrong_variables(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each variable that would be overwritten, or with which a run cannot be what the study says."""
    for path, environment in _environments(study):
        if not _starts_ranks(study):
            for name in OF_LAUNCHER:
                if name in environment:
                    yield f"{path}.{name}: the launcher sets this variable for every rank; leave it out"
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
    seen = next((at for at, one in enumerate(listed) if one in ("", "-1")), len(listed))
    single = path.startswith("variants.") and path.split(".")[1] in study.singles()
    wide = max((nodes_and_devices(scale)[1] for scale in study.scales if distributed(study)), default=1)
    needed = 1 if single else wide
    if seen < needed:
        yield (
            f"{path}.{DEVICES}: '{environment[DEVICES]}' shows {seen} of the {needed} devices that a node needs;"
            " list them all, or leave it out"
        )
