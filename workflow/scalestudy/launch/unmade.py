"""The record of a run that was not started: it was not needed, or SLURM's controller did not answer."""

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalestudy.launch.attempt import Earlier
from scalestudy.record.files import write_text
from scalestudy.record.observation import Outcome, RunRecord
from scalestudy.record.parts import describe, read_parts, write_data
from scalestudy.study.spec import RunSpec


def not_made(
    spec: RunSpec,
    partial: Path,
    code: str,
    outcome: Outcome,
    reason: str,
    *,
    environment: Mapping[str, Any] | None = None,
    earlier: Earlier | None = None,
) -> RunRecord:
    """Return the record, with its reason as the log. Empty data files are written to `partial`."""
    write_text(partial / "log.txt", f"{reason}\n")
    parts = read_parts(partial, world_size=spec.world_size)
    write_data(partial, parts)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    known, before = dict(environment or {}), earlier or ()
    return describe(
        spec, parts, outcome, reason, code=code, started_at=now, environment=known, earlier=before, log=reason
    )
