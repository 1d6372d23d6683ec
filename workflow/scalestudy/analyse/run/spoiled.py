"""Whether something else disturbed a run, from readings of its host and never from its own step times."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.energy import energy_of
from scalestudy.analyse.run.grid import Columns
from scalestudy.record.host.load import KEY
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import Spoiled
from scalestudy.study.config.spoiled import SpoiledFrom

LARGEST = ("others_cores", "stolen_share", "memory_stall_share", "throttled_share", "clock_jump_s", "gpu_others")
"""Readings that are reported as the maximum over the nodes of a run."""
MOST_CORES = 0.25
"""Limit in cores of other processes at any number of CPUs: a rank that shares its core slows all the others."""
SHORTEST_S = 0.05
"""Smallest measurable processor time: the kernel counts ticks of 10 ms for each CPU and process."""
OF_GPUS = ("thermal_slowdown_share", "hardware_slowdown_share")


def spoiled_columns(
    environment: Mapping[str, Any], gpus: Mapping[str, float], limits: SpoiledFrom
) -> dict[str, Any]:
    """Returns columns of runs.csv: readings of the host during the training, and the codes that follow from them.

    environment: of the record. gpus: shares of readings with a slowdown, OF_GPUS. `spoiled` is for the training,
    `spoiled_after` for the time after it: the probes, and the turns of the baseline.
    """
    loads: Mapping[str, Sequence[Mapping[str, Any]]] = environment.get(KEY) or {}
    training = loads.get("training", ())
    readings: dict[str, float] = {name: max((one[name] for one in training), default=nan) for name in LARGEST}
    readings["swapped_mib_per_s"] = max((one["swapped_mib"] / one["span_s"] for one in training), default=nan)
    slow = float(np.nanmax([0.0, *(gpus[name] for name in OF_GPUS)]))
    marks = list(_codes(training, slow, limits)) if training else [Spoiled.UNKNOWN]
    after = list(_codes(loads.get("after", ()), slow, limits)) if training else [Spoiled.UNKNOWN]
    renamed = {"throttled_share": "cpu_throttled_share"}
    return {
        "spoiled": " ".join(marks or [Spoiled.NONE]),
        "spoiled_after": " ".join(after or [Spoiled.NONE]),
        **{renamed.get(name, name): value for name, value in readings.items()},
    }


def spoiled_of(observation: Observation, limits: SpoiledFrom, *, warmup_steps: float) -> dict[str, Any]:
    """Returns the columns of one run, from its record and tables. warmup_steps: of COLUMNS of run/steps.py."""
    blocks, steps = (Columns(observation.tables[name]) for name in ("blocks", "steps"))
    spec, environment = observation.record.spec, observation.record.environment
    return spoiled_columns(environment, energy_of(blocks, steps, spec=spec, warmup_steps=warmup_steps), limits)


def _codes(loads: Sequence[Mapping[str, Any]], slow_gpus: float, limits: SpoiledFrom) -> Iterator[Spoiled]:
    """Yields codes in the order of Spoiled. slow_gpus: share of the readings with a limited GPU clock."""

    def beyond(name: str, limit: float) -> bool:
        return any(one[name] > limit for one in loads)

    if any(_is_shared(one, limits) for one in loads):
        yield Spoiled.OTHER_LOAD
    if beyond("stolen_share", limits.stolen_share):
        yield Spoiled.STOLEN_TIME
    if beyond("throttled_share", limits.throttled_share) or slow_gpus > limits.throttled_share:
        yield Spoiled.THROTTLED
    swapped = any(one["swapped_mib"] > limits.swapped_mib_per_s * max(1.0, one["span_s"]) for one in loads)
    if swapped or beyond("memory_stall_share", limits.memory_stall_share):
        yield Spoiled.SWAPPED
    if beyond("clock_jump_s", limits.clock_jump_s):
        yield Spoiled.CLOCK_SET
    if beyond("gpu_others", 0):
        yield Spoiled.SHARED_GPU


def _is_shared(load: Mapping[str, Any], limits: SpoiledFrom) -> bool:
    """Returns whether others used the ranks' CPUs for longer than the limit and the resolution of ticks."""
    most = min(limits.others_share * load["cpus"], MOST_CORES)
    return bool(load["others_cores"] > most and load["others_cores"] * load["span_s"] > SHORTEST_S)
