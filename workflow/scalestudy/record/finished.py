"""The finished runs in a results folder, for planning: by measurement protocol, and runs of release 0.1."""

import json
from collections.abc import Iterable
from pathlib import Path

from scalestudy.record.files import MOST_TEXT, read_file
from scalestudy.record.observation import OF_RELEASE_0_1, read_record
from scalestudy.record.protocol import CURRENT, Measured, older_runs


def finished_lines(results: Path, run_ids: Iterable[str]) -> list[str]:
    """Return lines: how many of these runs are measured, with which protocols, and what to do about old ones.

    The list is empty if no run is measured. Raises UserError, naming the file, if a record cannot be read.
    """
    directories = [results / "runs" / run_id for run_id in run_ids]
    records = [read_record(path) for path in directories if (path / "run.json").exists()]
    runs = [Measured(one.protocol, one.spec.strategy) for one in records if one.outcome != "unneeded"]
    if not runs:
        return []
    older = older_runs(runs)
    if not older:
        return [f"measured already: {len(runs)} runs, all as the current measurement protocol {CURRENT} specifies"]
    again = f"To measure them again: scalestudy retry {results} --protocol, then scalestudy run."
    return [f"measured already: {len(runs)} runs", *(f"  {line}" for line in (*older, again))]


def unmeasured(results: Path, run_ids: Iterable[str]) -> list[str]:
    """Return the runs that the next call measures: those without a record, and preempted ones.

    Raises UserError, naming the file, if a record cannot be read.
    """
    places = {run_id: results / "runs" / run_id for run_id in run_ids}
    return [
        run_id
        for run_id, place in places.items()
        if not (place / "run.json").exists() or read_record(place).outcome == "preempted"
    ]


def code_of_0_1(run: Path) -> str | None:
    """Return the fingerprint that release 0.1 passed to Snakemake for a run it measured; None for other runs.

    With the same parameter Snakemake does not plan the finished runs of 0.1 again. (The command itself would keep
    them anyway.)
    """
    try:
        record = json.loads(read_file(run / "run.json", most=MOST_TEXT))
        kept = record["schema_version"] == OF_RELEASE_0_1 and record["outcome"] != "preempted"
        return record["fingerprint"] if kept else None
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
    ):  # not measured, or damaged, which the command reports
        return None
