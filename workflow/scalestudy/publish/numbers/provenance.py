"""Launches as the provenance of a number has them: those that were made, and the code and record of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from scalestudy.publish.numbers.model import PointSource, RunSource
from scalestudy.publish.words import labels

DIGITS = 12  # of a checksum or a commit: enough to tell them apart
STATES: dict[bool | None, str] = {True: " (dirty)", False: " (clean)"}


def made(runs: Mapping[str, RunSource], run_ids: Sequence[str]) -> list[str]:
    """Those of these launches that were made. runs: of numbers.json."""
    return [run_id for run_id in run_ids if run_id in runs and runs[run_id].outcome != "unneeded"]


def code_of(run: RunSource) -> str:
    """'commit 0123456789ab (clean)'; '' where it is not known."""
    return _code(run.commit, run.dirty)


def record_of(run: RunSource) -> str:
    """The beginning of the checksum of its record; '' where it is not known."""
    return (run.record_sha256 or "")[:DIGITS]


def dates_of(runs: pd.DataFrame) -> str:
    """'2026-01-31', '2026-01-31 to 2026-02-02': the days on which launches were started; '' where not known."""
    days = sorted({str(start)[:10] for start in runs["started_at"].dropna()})
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""


def codes_of(runs: pd.DataFrame) -> list[str]:
    """Every commit that launches were made by, with its state."""
    columns = runs[["commit", "dirty"]].astype(object)
    rows = columns.where(columns.notna(), None).to_numpy()
    return sorted({_code(commit, dirty) for commit, dirty in rows} - {""})


def is_dirty(runs: pd.DataFrame) -> bool:
    """Whether code that made a launch had changes that were not committed."""
    return bool((runs["dirty"] == True).any())  # noqa: E712  a column that may hold None


def where_of(point: PointSource) -> str:
    """Where a number was measured, in words."""
    ranks = labels.ranks(point.world_size, point.nodes)
    return (
        f"{point.workload}, {point.variant}, {point.scaling} scaling, {ranks}, batch"
        f" {point.batch_per_rank} per rank, {point.global_batch} global"
    )


def _code(commit: str | None, dirty: bool | None) -> str:
    return f"commit {commit[:DIGITS]}{STATES.get(dirty, '')}" if commit else ""
