"""The device time that the runs of a results folder have taken, and the limit of `scalestudy verify` for a trial.

The limit is in an environment variable, which the jobs of a workflow inherit. It is not a part of the trial's
study, so that the same study can continue with a larger budget.
"""

import os
from pathlib import Path

from scalestudy.record.observation import HELD_DEVICES, read_record
from scalestudy.registry.results import RESULTS

BOUND = "SCALESTUDY_TRIAL_DEVICE_HOURS"
"""Variable with the device-hours that all runs of the folder may take; unset for no limit."""


def device_hours(results: Path) -> float:
    """Return the device-hours of the runs that are recorded in a results folder."""
    records = [read_record(path.parent) for path in sorted(results.glob("runs/*/run.json"))]
    made = [record for record in records if record.outcome != "unneeded"]
    held = [one.environment.get(HELD_DEVICES) or one.spec.world_size for one in made]
    return sum(one.totals.wall_time_s * devices for one, devices in zip(made, held, strict=True)) / 3600


def bound_h() -> float | None:
    """Return the device-hours that the runs of the trial may take; None for no limit."""
    given = os.environ.get(BOUND)
    return float(given) if given else None


def why_beyond(results: Path, run_id: str) -> str:
    """Return why the limit of a trial prevents a run; '' if it does not, or if the run is already recorded."""
    bound = bound_h()
    if bound is None or is_made(results, run_id) or (taken := device_hours(results)) < bound:
        return ""
    return f"the trial's budget is spent: {taken:.3g} of {bound:.3g} device-hours were used"


def first_repeat_is_made(results: Path) -> bool:
    """Return whether every run of the first repeat is recorded, so that there are results without the others."""
    from scalestudy.cli.results.inputs import plan_of  # it needs pandas, which runs without a limit need not load

    if not (results / RESULTS["plan"]).exists():
        return False
    return all(is_made(results, run) for run, spec in plan_of(results).runs.items() if spec.repeat == 1)


def is_made(results: Path, run_id: str) -> bool:
    """Return whether a run has a record and need not be repeated."""
    place = results / "runs" / run_id
    return (place / "run.json").exists() and read_record(place).outcome not in ("unneeded", "preempted")
