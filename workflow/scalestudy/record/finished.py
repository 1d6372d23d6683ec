"""Finished runs of a results folder, as those see them who plan: by protocol, and as release 0.1 left them."""

import json
from collections.abc import Iterable
from pathlib import Path

from scalestudy.record.files import read_file
from scalestudy.record.observation import OF_RELEASE_0_1, read_record
from scalestudy.record.protocol import CURRENT, Measured, older_runs


def finished_lines(results: Path, run_ids: Iterable[str]) -> list[str]:
    """How many of these runs are measured, by which protocols, and what to do about old ones; nothing if none is.

    Raises UserError, naming the file, where a record cannot be read.
    """
    directories = [results / "runs" / run_id for run_id in run_ids]
    records = [read_record(path) for path in directories if (path / "run.json").exists()]
    runs = [Measured(one.protocol, one.spec.strategy) for one in records if one.outcome != "unneeded"]
    if not runs:
        return []
    older = older_runs(runs)
    if not older:
        return [
            f"measured already: {len(runs)} runs, as they would be by the current measurement protocol {CURRENT}"
        ]
    again = f"To measure them again: scalestudy retry {results} --protocol, then scalestudy run."
    return [f"measured already: {len(runs)} runs", *(f"  {line}" for line in (*older, again))]


def unmeasured(results: Path, run_ids: Iterable[str]) -> list[str]:
    """Those of these runs that the next call measures: without a record, or preempted.

    Raises UserError, naming the file, where a record cannot be read.
    """
    places = {run_id: results / "runs" / run_id for run_id in run_ids}
    return [
        run_id
        for run_id, place in places.items()
        if not (place / "run.json").exists() or read_record(place).outcome == "preempted"
    ]


def code_of_0_1(run: Path) -> str | None:
    """The fingerprint that release 0.1 gave Snakemake as a parameter of a run it measured; None for other runs.

    As a parameter again it keeps Snakemake from planning every finished run of 0.1, though the command would keep
    what is measured.
    """
    try:
        record = json.loads(read_file(run / "run.json"))
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
