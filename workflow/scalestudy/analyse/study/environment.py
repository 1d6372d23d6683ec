"""The environment of a study: what all its runs have in common, what differs, and the warnings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from scalestudy.record.batch_trial import KEY as BATCH_TRIAL
from scalestudy.record.document import Document, Part
from scalestudy.record.gradient_noise import KEY as GRADIENT_NOISE
from scalestudy.record.host.load import KEY as HOST_LOAD
from scalestudy.record.observation import HELD_DEVICES, IMPORTED, NO_SYNC_LEFT_OUT, PROBES_LEFT_OUT, SEEN, Totals

# Recorded with the environment by the rank that has them, but properties of the model and the run.
OF_A_LAUNCH = (
    *Totals.model_fields,
    *(HELD_DEVICES, PROBES_LEFT_OUT, NO_SYNC_LEFT_OUT, SEEN, IMPORTED, GRADIENT_NOISE, BATCH_TRIAL),
    HOST_LOAD,
)


class WarningCount(Part):
    """A kind of warning by the launcher, the number of runs that had it, and the first of their texts."""

    kind: str
    launches: int
    example: str


class StudyEnvironment(Document):
    """environment.json: the facts of all runs' environments, and the launcher's warnings."""

    made_by: ClassVar[str] = "scalestudy stage aggregate"
    schema_version: Literal[2] = 2
    facts: dict[str, tuple[bool | int | float | str, ...]]
    """By name, the distinct values in order of appearance."""
    packages: dict[str, str] = Field(default_factory=dict)
    """Package -> the fact that has its version."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Environment variable -> the fact that has it."""
    readings: tuple[str, ...] = ()
    """Facts that are readings before a run: they always differ, so documents show their range."""
    warnings: tuple[WarningCount, ...] = ()
    """The most frequent first."""
    links: tuple[dict[str, str], ...] = ()
    """The links between each pair of GPUs ('0-1'), as written by record/host/links.py: the distinct sets, without
    those that a larger set includes."""


class Fact(NamedTuple):
    """An entry of a run's environment."""

    name: str
    kind: Literal["plain", "package", "variable", "hardware"] = "plain"
    of: str = ""
    """The package, the variable, or the key of the hardware's block."""

    @property
    def is_reading(self) -> bool:
        """Whether it is a reading before the run, by the names in record/host/environment.py."""
        return self.kind == "hardware" and self.of.startswith("current_")


Environment = Mapping[str, Any]
"""The environment that a run recorded: `environment` of its record."""


def study_environment(environments: Sequence[Environment]) -> StudyEnvironment:
    """Combines the environments of runs, in the order of the runs."""
    facts: dict[Fact, dict[Any, None]] = {}
    # Most runs of a study have the same environment: each distinct object is read once.
    for environment in {id(environment): environment for environment in environments}.values():
        for fact, value in _facts(environment):
            values = facts.setdefault(fact, {})
            if value is not None:
                values.setdefault(json.dumps(value) if isinstance(value, list | dict) else value)
    known = {fact: list(values) for fact, values in facts.items() if values}
    return StudyEnvironment(
        facts={fact.name: _range(values) if fact.is_reading else tuple(values) for fact, values in known.items()},
        packages={fact.of: fact.name for fact in known if fact.kind == "package"},
        variables={fact.of: fact.name for fact in known if fact.kind == "variable"},
        readings=tuple(fact.name for fact in known if fact.is_reading),
        warnings=_warnings(environments),
        links=_distinct_links(environments),
    )


def _warnings(environments: Sequence[Environment]) -> tuple[WarningCount, ...]:
    texts: dict[str, list[str]] = {}
    for environment in environments:
        of_run = {w["kind"]: w["text"] for w in reversed(environment.get("warnings", []))}
        for kind, text in of_run.items():
            texts.setdefault(kind, []).append(text)
    found = [WarningCount(kind=kind, launches=len(said), example=said[0]) for kind, said in texts.items()]
    return tuple(sorted(found, key=lambda warning: (-warning.launches, warning.kind)))


def _distinct_links(environments: Sequence[Environment]) -> tuple[dict[str, str], ...]:
    """Returns the links that the runs found. A run that saw fewer of the same GPUs adds nothing."""
    found: list[dict[str, str]] = []
    for environment in {id(environment): environment for environment in environments}.values():
        links = ((environment.get("hardware") or {}).get("gpu") or {}).get("links") or {}
        if any(links.items() <= other.items() for other in found):
            continue
        found = [other for other in found if not other.items() <= links.items()] + [links]
    return tuple(links for links in found if links)


def _facts(environment: Environment) -> Iterator[tuple[Fact, Any]]:
    """Yields all recorded entries with their values; blocks are flattened."""
    plain = {k: v for k, v in environment.items() if k not in (*OF_A_LAUNCH, "warnings", "earlier_attempts")}
    nodes = plain.pop("nodes", [])
    hardware = plain.pop("hardware", None) or {}
    packages, variables = (plain.pop(name, None) or {} for name in ("packages", "variables"))
    yield from ((Fact(key), value) for key, value in plain.items())
    yield Fact("nodes"), ", ".join(node["name"] for node in nodes) or None
    yield from ((Fact(f"version of {name}", "package", name), value) for name, value in packages.items())
    yield from ((Fact(f"variable {name}", "variable", name), value) for name, value in variables.items())
    for part, block in hardware.items():
        for key, value in block.items():
            yield from _hardware_fact(f"hardware {part}", key, value)


def _hardware_fact(part: str, key: str, value: Any) -> Iterator[tuple[Fact, Any]]:
    """Returns a fact of the hardware; each distinct value of several GPUs, one line for links and nodes."""

    def fact(key: str) -> Fact:
        return Fact(f"{part} {key.replace('_', ' ')}", "hardware", key)

    if key == "devices":
        yield fact("count"), len(value)
        for device in value:
            yield from ((fact(name), content) for name, content in device.items())
    elif key == "links":
        yield fact(key), _links(value) or None
    elif key == "numa_nodes":
        yield fact(key), len(value) or None
        yield fact("cpus_of_numa_nodes"), _by_number(value)
    elif key == "cpus_of_sockets":
        yield fact(key), _by_number(value)
    else:
        yield fact(key), value or None


def _by_number(cpus: Mapping[str, str]) -> str | None:
    """Returns '0: 0-15; 1: 16-31', the CPUs of each socket or NUMA node."""
    return "; ".join(f"{number}: {of_it}" for number, of_it in cpus.items()) or None


def _links(links: dict[str, str]) -> str:
    """Returns 'NV18 (NVLink 4.0): 0-1, 2-3; SYS: 4 pairs'; pairs are named if there are few."""
    parts = []
    for kind, group in groupby(sorted(links, key=lambda pair: links[pair]), key=lambda pair: links[pair]):
        pairs = list(group)
        parts.append(f"{kind}: {', '.join(pairs) if len(pairs) <= 4 else f'{len(pairs)} pairs'}")
    return "; ".join(parts)


def _range(values: list[Any]) -> tuple[Any, ...]:
    """Returns the only value, or the smallest and the largest number as one text."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if not numbers:
        return tuple(values)
    low, high = min(numbers), max(numbers)
    return (low,) if low == high else (f"{low:g} to {high:g}",)
