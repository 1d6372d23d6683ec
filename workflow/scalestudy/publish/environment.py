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
NO_ANSWER = "NVML does not answer: "
"""Begins the recorded note where NVML failed; NVML's error message follows."""
NO_DRIVER = ("NVML Shared Library Not Found", "Driver Not Loaded")
"""NVML's messages on a host without an NVIDIA driver."""


def hardware_view(facts: Facts, kept: Collection[str] = HARDWARE_NAMES) -> list[tuple[str, str]]:
    """The hardware table as (name, text): the known facts among those that are kept."""
    given = {
        "hardware cpu model": facts.get("cpu", ()),
        "hardware memory total gib": facts.get("memory_gib", ()),
        **facts,
        "interconnect": _interconnects(facts.get("interconnect", ())),
        "hardware gpu note": _gpu_notes(facts),
    }
    if tuple(given.get(GPU_COUNT, ())) == (0,):
        del given[GPU_COUNT]
    return [(name, as_text(given[key])) for key, name in HARDWARE_NAMES.items() if key in kept and given.get(key)]


def _interconnects(recorded: Sequence[Any]) -> list[Any]:
    """The interconnects as printed; that a single process has none is left out if there are others."""
    found = [one for one in recorded if one != ALONE] or recorded
    return [INTERCONNECTS.get(one, one) for one in found]


def _gpu_notes(facts: Facts) -> list[str]:
    """Why no GPU is listed, each reason once, in plain words instead of NVML's error messages."""
    on_gpus = "cuda" in facts.get("device_type", ())
    notes = (str(note) for note in facts.get("hardware gpu note", ()))
    return list(dict.fromkeys(_gpu_note(note, on_gpus=on_gpus) for note in notes))


def _gpu_note(note: str, *, on_gpus: bool) -> str:
    if not note.startswith(NO_ANSWER):
        return {"no GPU is visible": "none visible"}.get(note, note)
    error = note.removeprefix(NO_ANSWER).rstrip(".")
    if error in NO_DRIVER and not on_gpus:
        return "none"
    return f"could not be queried (NVML: {error})"


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
