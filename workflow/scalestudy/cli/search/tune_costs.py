"""The device-seconds that the recorded runs of a search took, including those that were set aside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.record.files import MOST_TEXT, read_file
from scalestudy.record.observation import HELD_DEVICES


def recorded_device_s(folder: Path) -> float:
    """Return the device-seconds of all runs in a folder, including those that were set aside."""
    return _total_s((*folder.glob("runs/*/run.json"), *folder.glob("superseded/*/run.json")))


def replaced_device_s(folder: Path, run_id: str) -> float:
    """Return the device-seconds of the completed runs that a run replaced; one that was cut off is none."""
    return _total_s(folder.glob(f"superseded/{run_id}.*/run.json"), outcome="ok")


def _total_s(paths: Iterable[Path], outcome: str | None = None) -> float:
    return sum(_device_time_s(path, outcome) for path in paths)


def _device_time_s(path: Path, outcome: str | None) -> float:
    """Return the device-seconds of a record; 0 if it is damaged, or has another outcome."""
    try:  # read_record refuses a folder that was renamed, as those that were set aside are
        record = json.loads(read_file(path, most=MOST_TEXT))
        if outcome and record["outcome"] != outcome:
            return 0.0
        spec, environment = record["spec"], record["environment"] or {}
        held = environment.get(HELD_DEVICES) or spec["nodes"] * spec["devices_per_node"]
        return float(record["totals"]["wall_time_s"]) * float(held)
    except (UserError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 0.0
