"""Where the numbers come from, point by point, for an appendix."""

from __future__ import annotations

from typing import Any

from scalestudy.publish.numbers.model import NumbersFile, RunSource
from scalestudy.publish.numbers.provenance import code_of, made, record_of
from scalestudy.publish.words import labels


def provenance_view(numbers: NumbersFile) -> dict[str, Any]:
    """Values for report/templates/provenance.tex."""
    runs = numbers.runs
    return {
        "study": numbers.study,
        "version": numbers.scalestudy,
        "code": ", ".join(sorted({code_of(run) for run in runs.values()} - {""})),
        "points": [
            {
                "key": key,
                "where": f"{labels.ranks(point.world_size, point.nodes)}, batch"
                f" {point.batch_per_rank} per rank, {point.global_batch} global; {point.outcomes}",
                "base": point.base if point.base != key else "",
                "launches": ", ".join(_launch(run, runs[run]) for run in made(runs, point.runs)),
            }
            for key, point in numbers.points.items()
        ],
    }


def _launch(run_id: str, run: RunSource) -> str:
    return f"{run_id} ({record_of(run)})" if record_of(run) else run_id
