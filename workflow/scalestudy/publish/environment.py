"""The hardware a paper has to name, the rest of the environment, and the launcher's warnings, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scalestudy.analyse.study.environment import StudyEnvironment

Facts = Mapping[str, Sequence[Any]]
"""Of environment.json: the distinct values of each fact."""

# Facts of environment.json in the order of the table, with the name they have there.
HARDWARE_NAMES = {
    "device": "device of the ranks",
    "hardware cpu model": "processor",
    "hardware cpu sockets": "sockets",
    "hardware cpu physical cores": "physical cores",
    "hardware cpu threads per core": "threads per core",
    "hardware cpu numa nodes": "NUMA nodes",
    "hardware cpu cpus of numa nodes": "CPUs of NUMA nodes",
    "hardware cpu max clock mhz": "CPU clock, largest (MHz)",
    "hardware cpu current clock mhz": "CPU clock before launch (MHz)",
    "hardware cpu governor": "CPU governor",
    "hardware cpu quota cores": "CPU quota (cores)",
    "cores_available": "CPUs a launch may use",
    "threads_per_rank": "threads per rank",
    "hardware memory total gib": "memory (GiB)",
    "hardware memory limit gib": "memory limit (GiB)",
    "hardware gpu count": "GPUs visible",
    "hardware gpu name": "GPU",
    "hardware gpu memory gib": "GPU memory (GiB)",
    "hardware gpu compute capability": "GPU compute capability",
    "hardware gpu driver": "GPU driver",
    "hardware gpu links": "links between GPUs",
    "hardware gpu pcie generation": "PCIe generation",
    "hardware gpu pcie width": "PCIe width",
    "hardware gpu power limit w": "GPU power limit (W)",
    "hardware gpu max sm clock mhz": "SM clock, largest (MHz)",
    "hardware gpu max memory clock mhz": "memory clock, largest (MHz)",
    "hardware gpu current sm clock mhz": "SM clock before launch (MHz)",
    "hardware gpu current temperature c": "GPU before launch (°C)",
    "hardware gpu persistence mode": "persistence mode",
    "hardware gpu ecc mode": "ECC",
    "hardware gpu mig mode": "MIG",
    "hardware gpu note": "GPUs",
    "interconnect": "interconnect",
    "backend": "communication backend",
    "system": "operating system",
}

# What only repeats one of the above.
LEFT_OUT = ("cpu", "cpu_cores", "memory_gib", "device_type")


def hardware_view(facts: Facts) -> list[tuple[str, str]]:
    """The table of the hardware as (name, text); rows of what is not known are not there."""
    given = {
        "hardware cpu model": facts.get("cpu", ()),
        "hardware memory total gib": facts.get("memory_gib", ()),
        **facts,
    }
    if tuple(given.get("hardware gpu count", ())) == (0,):
        del given["hardware gpu count"]
    return [(name, as_text(given[key])) for key, name in HARDWARE_NAMES.items() if given.get(key)]


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
