"""The hardware a paper has to name, the rest of the environment, and the launcher's warnings, as text."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.registry.hardware import GPU_COUNT, HARDWARE_NAMES

Facts = Mapping[str, Sequence[Any]]
"""Of environment.json: the distinct values of each fact."""

# What only repeats one of the above.
LEFT_OUT = ("cpu", "cpu_cores", "memory_gib", "device_type")


def hardware_view(facts: Facts, kept: Collection[str] = HARDWARE_NAMES) -> list[tuple[str, str]]:
    """The table of the hardware as (name, text): of the facts that are kept, those that are known."""
    given = {
        "hardware cpu model": facts.get("cpu", ()),
        "hardware memory total gib": facts.get("memory_gib", ()),
        **facts,
    }
    if tuple(given.get(GPU_COUNT, ())) == (0,):
        del given[GPU_COUNT]
    return [(name, as_text(given[key])) for key, name in HARDWARE_NAMES.items() if key in kept and given.get(key)]


def environment_view(facts: Facts) -> list[tuple[str, str]]:
    """Everything else that was recorded, as (name, text): versions, variables, and the rest of the facts."""
    elsewhere = {*HARDWARE_NAMES, *LEFT_OUT}
    return [(key, as_text(values)) for key, values in facts.items() if key not in elsewhere]


def warnings_view(environment: StudyEnvironment, *, launches: int) -> list[dict[str, str]]:
    """The launcher's warnings: how many launches each kind had, and one of the texts."""
    return [dict(item) | {"launches": f"{item.launches} of {launches} launches"} for item in environment.warnings]


def as_text(values: Sequence[Any]) -> str:
    """The distinct values of a fact in one line."""
    return "; ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
