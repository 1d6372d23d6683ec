"""Whether a launch that is held in reserve is needed, from the launches before it."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from scalestudy.analyse.run.steps import measured
from scalestudy.measure.stopping import launches_needed
from scalestudy.record.observation import read_observation
from scalestudy.study.spec import RunSpec


def decide(spec: RunSpec, directories: list[Path], confidence: float) -> tuple[bool, str]:
    """(whether a launch held in reserve is needed, why) from the launches that were planned from the start.

    Where fewer than two of them came to their end there is no spread to decide on: then it is not needed, since a
    configuration that fails would fail again.
    """
    target = spec.measure.half_width
    times_s = [
        time
        for directory in directories
        if not isnan(time := measured(read_observation(directory), confidence=confidence)["step_time_s"])
    ]
    if len(times_s) < 2:
        return (
            False,
            f"{len(times_s)} of {len(directories)} launches came to their end; 2 are needed to decide on more",
        )
    launches, width = launches_needed(times_s, half_width=target, confidence=confidence, most=spec.repeat)
    known = f"half-width {width:.2%} of the step time after {len(times_s)} launches, target {target:.2%}"
    return launches >= spec.repeat, f"{known}: {launches} are enough"
