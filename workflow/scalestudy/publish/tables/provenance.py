"""Where the numbers come from, point by point, for an appendix."""

from __future__ import annotations

from typing import Any

from scalestudy.publish import labels

DIGITS = 12  # of a checksum or a commit: enough to tell them apart


def provenance_view(numbers: dict[str, Any]) -> dict[str, Any]:
    """Values for report/templates/provenance.tex, of the content of numbers.json."""
    runs = numbers["runs"]
    return {
        "study": numbers["study"],
        "version": numbers["scalestudy"],
        "code": _code(runs),
        "points": [
            {
                "key": key,
                "where": f"{labels.ranks(point['world_size'], point['nodes'])}, batch"
                f" {point['batch_per_rank']} per rank, {point['global_batch']} global; {point['outcomes']}",
                "base": point["base"] if point["base"] != key else "",
                "launches": ", ".join(_launch(run, runs[run]) for run in point["runs"] if _made(runs, run)),
            }
            for key, point in numbers["points"].items()
        ],
    }


def _made(runs: dict[str, Any], run: str) -> bool:
    return run in runs and runs[run]["outcome"] != "unneeded"


def _launch(run_id: str, run: dict[str, Any]) -> str:
    return f"{run_id} ({run['record_sha256'][:DIGITS]})" if run.get("record_sha256") else run_id


def _code(runs: dict[str, Any]) -> str:
    """'commit 0123456789ab (clean)'; several where launches were made by several; '' where it is not known."""
    states = {True: " (dirty)", False: " (clean)"}
    found = {
        f"commit {r['commit'][:DIGITS]}{states.get(r['dirty'], '')}" for r in runs.values() if r.get("commit")
    }
    return ", ".join(sorted(found))
