"""Rows of documents without repetition: a baseline of strong and weak scaling is one row, not two."""

from collections.abc import Sequence
from typing import Any

from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.words import labels


def merged(rows: Sequence[dict[str, Any]], numbers: NumbersFile) -> list[dict[str, Any]]:
    """The rows of rows_view, where baselines with the same runs are one row with the key of the first.

    Its `scaling` is 'strong and weak', and its `point` has none: 'single, 1 rank, batch 32 per rank'.
    """
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        source = numbers.points.get(row["key"])
        same = (row["workload"], *source.runs) if row["is_base"] and source else (row["key"],)
        found.setdefault(same, []).append(row)
    return [_one(same) for same in found.values()]


def _one(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first = rows[0]
    if len(rows) == 1:
        return first
    return first | {
        "scaling": labels.listed([row["scaling"] for row in rows]),
        "point": f"{first['variant']}, {first['ranks_text']}, batch {first['batch_per_rank']} per rank",
    }
