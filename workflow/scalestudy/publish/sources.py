"""The appendix of the page: the runs that its numbers lead to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scalestudy.publish.numbers.model import NumbersFile, PointSource, RunSource
from scalestudy.publish.numbers.provenance import code_of, made, record_of, where_of


def appendix_view(numbers: NumbersFile, forecasts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A workload at a time: every point with its launches, every forecast with the points it is from.

    forecasts: as forecasts_view has them.
    """
    found: dict[str, dict[str, Any]] = {}
    for key, point in numbers.points.items():
        entry = found.setdefault(point.workload, {"workload": point.workload, "points": [], "forecasts": []})
        entry["points"].append(_point(numbers.runs, key, point))
    for item in forecasts:
        if not item["refused"]:
            behind = numbers.numbers[f"{item['key']}.speedup"].rests_on
            where = f"forecast: {item['workload']}, {item['point']}"
            found[item["workload"]]["forecasts"].append({"key": item["key"], "where": where, "from": behind})
    return list(found.values())


def _point(runs: Mapping[str, RunSource], key: str, point: PointSource) -> dict[str, Any]:
    return {
        "key": key,
        "where": where_of(point),
        "outcomes": point.outcomes,
        "base": point.base if point.base != key else None,
        "base_runs": made(runs, point.base_runs) if point.base_runs != point.runs else [],
        "launches": [
            {
                "run_id": run_id,
                "outcome": runs[run_id].outcome,
                "record": record_of(runs[run_id]),
                "code": code_of(runs[run_id]),
            }
            for run_id in made(runs, point.runs)
        ],
    }
