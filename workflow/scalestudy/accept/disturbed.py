"""Checks of times that something else on the host disturbed: they can tell nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scalestudy.accept.model import CANNOT_TELL, Check
from scalestudy.analyse.point.spoiled import NOT_MARKED
from scalestudy.analyse.run.spoiled import OF_GPUS, spoiled_columns, spoiled_of
from scalestudy.record.host.load import KEY
from scalestudy.record.tables import Observation
from scalestudy.registry.words.points import spoiled_by
from scalestudy.study.config.spoiled import SpoiledFrom


def marks_of(observation: Observation) -> str:
    """Return how a run was disturbed, in its training or in the probes after it: codes; '' if it was not."""
    warmup_steps = observation.record.spec.measure.warmup_steps
    return _marks(spoiled_of(observation, SpoiledFrom(), warmup_steps=warmup_steps))


def marks_of_load(load: Mapping[str, Any] | None) -> str:
    """Return the same for a process that was watched. load: what launch/beside/watch.py read; None if nothing."""
    environment = {KEY: {"training": [load]}} if load else {}
    return _marks(spoiled_columns(environment, dict.fromkeys(OF_GPUS, 0.0), SpoiledFrom()))


def unless_disturbed(one: Check, marks: str) -> Check:
    """Return a check that compares two times, or its form that can tell nothing. marks: codes."""
    if not marks or one.word == "unproven":
        return one
    return one.model_copy(update={"word": CANNOT_TELL, "found": f"{one.found}; measured {spoiled_by(marks)}"})


def red_unless_disturbed(one: Check, marks: str) -> Check:
    """Return the same for a check of the longest time. Other load only prolongs a time: green stays green."""
    return one if one.word == "green" else unless_disturbed(one, marks)


def _marks(columns: Mapping[str, Any]) -> str:
    codes = [code for name in ("spoiled", "spoiled_after") for code in str(columns[name]).split()]
    return " ".join(dict.fromkeys(code for code in codes if code not in NOT_MARKED))
