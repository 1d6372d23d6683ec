"""The hardware a paper has to name, the rest of the environment, and the launcher's warnings, as text."""

from __future__ import annotations

from typing import Any

from scalestudy.registry.hardware import HARDWARE_NAMES

# What only repeats one of the above.
LEFT_OUT = ("cpu", "cpu_cores", "memory_gib", "device_type")


def hardware_view(environment: dict[str, list[Any]]) -> list[tuple[str, str]]:
    """The table of the hardware as (name, text); rows of what is not known are not there."""
    given = {
        "hardware cpu model": environment.get("cpu"),
        "hardware memory total gib": environment.get("memory_gib"),
    } | environment
    if given.get("hardware gpu count") == [0]:
        del given["hardware gpu count"]
    return [(name, as_text(given[key])) for key, name in HARDWARE_NAMES.items() if given.get(key)]


def environment_view(environment: dict[str, list[Any]]) -> list[tuple[str, str]]:
    """Everything else that was recorded, as (name, text): versions, variables, and the rest of the facts."""
    elsewhere = {*HARDWARE_NAMES, *LEFT_OUT, "warnings"}
    return [(key, as_text(values)) for key, values in environment.items() if key not in elsewhere]


def warnings_view(environment: dict[str, list[Any]], *, launches: int) -> list[dict[str, str]]:
    """The launcher's warnings: how many launches each kind had, and one of the texts."""
    warnings = environment.get("warnings", [])
    return [item | {"launches": f"{item['launches']} of {launches} launches"} for item in warnings]


def as_text(values: list[Any]) -> str:
    """The distinct values of a fact in one line."""
    return "; ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
