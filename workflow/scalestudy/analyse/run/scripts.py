"""What was detected in a user's script: the settings that our own training has as knobs, and its checkpoints."""

import json
from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.communication.arrivals import NOBODY_LATE, late_of_blocks
from scalestudy.analyse.run.grid import Columns, Grid
from scalestudy.analyse.run.steps import is_training
from scalestudy.record.observation import SEEN
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import LateBy, Wrapper
from scalestudy.study.spec import CommandSpec

FEWEST_CHECKPOINTS = 3
"""Number of checkpoints from which their interval is known."""
NOTHING_SEEN: dict[str, Any] = {"seen": "{}", "checkpoint_apart_s": nan}


def script_columns(observation: Observation, steps: Columns, late: dict[str, Any]) -> dict[str, Any]:
    """Returns columns of runs.csv: wrapper, seen, checkpoint_apart_s, the late rank and how it was identified.

    `seen` has the detected settings by the names of study.config.variants.Knobs, as JSON. late: from late_rank. If
    gradient buckets have no timestamps, blocks without synchronisation show the late rank; without these, the time
    of ranks outside of the backward pass, in which DDP waits for the others, shows it.
    """
    spec, seen = observation.record.spec, observation.record.environment.get(SEEN)
    if not isinstance(spec, CommandSpec) or seen is None:
        wrapper = Wrapper(spec.strategy) if spec.strategy in (Wrapper.DDP, Wrapper.FSDP) else Wrapper.NONE
        by = LateBy.NONE if np.isnan(late["late_share"]) else LateBy.BUCKETS
        return NOTHING_SEEN | {"wrapper": wrapper} | late | {"late_by": by}
    every, apart_s = _checkpoints(observation, steps)
    knobs = _of_the_wrapper(seen) | _of_the_loader(seen)
    knobs |= {"compile": bool(seen.get("compiled"))}
    knobs |= {"checkpoint_every_steps": every} if every else {}
    wrapper = Wrapper(next(iter(sorted(seen["strategies"])), Wrapper.NONE))
    return {
        "wrapper": wrapper,
        "seen": json.dumps(knobs, sort_keys=True),
        "checkpoint_apart_s": apart_s,
        "buckets": seen.get("buckets") or nan,
        **_late(observation, steps, wrapper),
    }


def _of_the_wrapper(seen: dict[str, Any]) -> dict[str, Any]:
    """Returns options of DDP; batches per step, if it was detected which of their gradients are synchronised."""
    found: dict[str, Any] = {"ddp": seen["ddp"]} if seen.get("ddp") else {}
    passes, synchronised = seen.get("passes"), seen.get("synchronised_passes")
    if passes and synchronised:
        found |= {"accumulation_steps": passes, "accumulation_sync": synchronised > 1}
    return found


def _of_the_loader(seen: dict[str, Any]) -> dict[str, Any]:
    """Returns options of the DataLoader that the script trains on, if it has one."""
    trained_on = [seen["loaders"][number] for number in seen.get("training_loaders", ())]
    loaders = [loader for loader in trained_on if loader.get("workers") is not None]
    if len(loaders) != 1:
        return {}
    names = ("workers", "pin_memory", "persistent_workers", "prefetch_factor")
    return {"input": {"loader": "dataloader", **{name: loaders[0].get(name) for name in names}}}


def _checkpoints(observation: Observation, steps: Columns) -> tuple[int, float]:
    """Returns (steps between checkpoints, their seconds per step), from steps that are left out of the step time;
    (0, nan) if too few were seen."""
    grid = Grid.of(steps, is_training(observation, steps))
    if not len(grid):
        return 0, nan
    saved_s = np.nan_to_num(grid["checkpoint_time_s"]).max(axis=0)
    saved_s = np.where(grid.of_step("phase") == "tail", saved_s, 0.0)
    count = int((saved_s > 0).sum())
    if count < FEWEST_CHECKPOINTS:
        return 0, nan
    return round(len(saved_s) / count), float(saved_s.sum() / len(saved_s))


def _late(observation: Observation, steps: Columns, wrapper: Wrapper) -> dict[str, Any]:
    if observation.record.spec.world_size == 1 or wrapper != Wrapper.DDP:
        return NOBODY_LATE | {"late_by": LateBy.NONE}
    alone = Grid.of(steps, steps.among("phase", ("probe-no-sync",)))
    if len(alone):
        return late_of_blocks(alone, alone["step_time_s"], alone.of_step("block")) | {"late_by": LateBy.BLOCKS}
    own = Grid.of(steps, steps.among("phase", ("measured",)))
    if not len(own):
        return NOBODY_LATE | {"late_by": LateBy.NONE}
    outside_s = own["step_time_s"] - np.nan_to_num(own["backward_time_s"])
    return late_of_blocks(own, outside_s, own.of_step("step")) | {"late_by": LateBy.STEPS}
