"""The device time that a folder of results has taken, and the bound that `scalestudy verify` sets on a trial.

The bound is in a variable, which the jobs of a workflow inherit. It is no part of the trial's study, so that the
same study goes on with a larger budget.
"""

import os
from pathlib import Path

from scalestudy.record.observation import HELD_DEVICES, read_record
from scalestudy.registry.results import RESULTS

BOUND = "SCALESTUDY_TRIAL_DEVICE_HOURS"
"""Names the device-hours that all launches of the folder may take; unset for no bound."""


def device_hours(results: Path) -> float:
    """Device-hours of the launches that are recorded in a folder of results."""
    records = [read_record(path.parent) for path in sorted(results.glob("runs/*/run.json"))]
    made = [record for record in records if record.outcome != "unneeded"]
    held = [one.environment.get(HELD_DEVICES) or one.spec.world_size for one in made]
    return sum(one.totals.wall_time_s * devices for one, devices in zip(made, held, strict=True)) / 3600


def bound_h() -> float | None:
    """Device-hours that the launches of the trial may take; None for no bound."""
    given = os.environ.get(BOUND)
    return float(given) if given else None


def why_beyond(results: Path, run_id: str) -> str:
    """Why a launch is not begun under the bound of a trial; '' where it is, or is recorded already."""
    bound = bound_h()
    if bound is None or is_made(results, run_id) or (taken := device_hours(results)) < bound:
        return ""
    return f"the budget of the trial has ended: {taken:.3g} of {bound:.3g} device-hours were taken"


def first_repeat_is_made(results: Path) -> bool:
    """Whether every launch of the first repeat is recorded, so that there are results without the others."""
    from scalestudy.cli.inputs import plan_of  # it needs pandas, which launches without a bound need not load

    if not (results / RESULTS["plan"]).exists():
        return False
    return all(is_made(results, run) for run, spec in plan_of(results).runs.items() if spec.repeat == 1)


def is_made(results: Path, run_id: str) -> bool:
    """Whether a launch is recorded that need not be made again."""
    place = results / "runs" / run_id
    return (place / "run.json").exists() and read_record(place).outcome not in ("unneeded", "preempted")
