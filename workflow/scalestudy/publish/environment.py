"""The hardware that a paper must name, the rest of the environment, and the launcher's warnings, as text."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.registry.hardware import GPU_COUNT, HARDWARE_NAMES

Facts = Mapping[str, Sequence[Any]]
"""The distinct values of each fact in environment.json."""

# Facts that only repeat one of the above.
LEFT_OUT = ("cpu", "cpu_cores", "memory_gib", "device_type")

ALONE = "none: one process"
"""The recorded interconnect of a single process."""
INTERCONNECTS = {
    ALONE: "none (one process)",
    "host memory (gloo over TCP on one host)": "loopback (gloo/TCP, single host)",
}
"""Recorded interconnect -> how it is printed, if differently."""
GPU_NOTE = "hardware gpu note"
NO_DRIVER = ("NVML does not answer: NVML Shared Library Not Found", "NVML does not answer: Driver Not Loaded")
"""Recorded notes of a host without an NVIDIA driver."""
NONE_VISIBLE = {"no GPU is visible": "none visible"}
DENIED = "not readable: permission denied"
REFUSED = {"NVML does not answer: Insufficient Permissions": DENIED}
"""Recorded notes of a driver that answers other users only -> how they are printed."""
NOT_KNOWN = "not known: NVML could not be queried"
"""Printed for other notes, which contain an error message of NVML."""


def hardware_view(facts: Facts, kept: Collection[str] = HARDWARE_NAMES) -> list[tuple[str, str]]:
    """The hardware table as (name, text): the known facts among those that are kept."""
    given = {
        "hardware cpu model": facts.get("cpu", ()),
        "hardware memory total gib": facts.get("memory_gib", ()),
        **facts,
        "interconnect": _interconnects(facts.get("interconnect", ())),
        GPU_NOTE: gpu_notes(facts),
    }
    if tuple(given.get(GPU_COUNT, ())) == (0,):
        del given[GPU_COUNT]
    return [(name, as_text(given[key])) for key, name in HARDWARE_NAMES.items() if key in kept and given.get(key)]


def _interconnects(recorded: Sequence[Any]) -> list[Any]:
    """The interconnects as printed; that a single process has none is left out if there are others."""
    found = [one for one in recorded if one != ALONE] or recorded
    return [INTERCONNECTS.get(one, one) for one in found]


def gpu_notes(facts: Facts) -> list[str]:
    """Why no GPU is listed, each reason once, in plain words instead of NVML's error messages."""
    on_gpus = any(kind == "cuda" for kind in facts.get("device_type", ()))
    words = NONE_VISIBLE | REFUSED | dict.fromkeys(NO_DRIVER, NOT_KNOWN if on_gpus else "none")
    return list(dict.fromkeys(words.get(note, NOT_KNOWN) for note in map(str, facts.get(GPU_NOTE, ()))))


def environment_view(facts: Facts) -> list[tuple[str, str]]:
    """All other recorded facts as (name, text): versions, variables and the rest."""
    elsewhere = {*HARDWARE_NAMES, *LEFT_OUT}
    return [(key, as_text(values)) for key, values in facts.items() if key not in elsewhere]


def warnings_view(environment: StudyEnvironment, *, launches: int) -> list[dict[str, str]]:
    """The launcher's warnings: for each kind the number of runs and one of the texts."""
    return [dict(item) | {"launches": f"{item.launches} of {launches} runs"} for item in environment.warnings]


def as_text(values: Sequence[Any]) -> str:
    """The distinct values of a fact as one line."""
    return "; ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
