"""Forecasts as a reader sees them: where they rest, what they say, or why there is none."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from scalestudy.publish import labels
from scalestudy.publish.quantities import HEADLINE, shown
from scalestudy.publish.results import as_text


def forecasts_view(forecasts: pd.DataFrame) -> list[dict[str, Any]]:
    """A dictionary of text for every row of forecasts.csv, in its order."""
    return [_row(row) for _, row in forecasts.iterrows()]


def refusals(view: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each reason for which there is no forecast, with the points that it holds for; of forecasts_view."""
    found: dict[str, list[str]] = {}
    for item in view:
        if item["refused"]:
            found.setdefault(item["refused"], []).append(f"{item['workload']}, {item['point']}")
    return [{"reason": reason, "points": points} for reason, points in found.items()]


def law_weights(row: Any) -> dict[str, int]:
    """Per cent of every law of overhead in a forecast, by the law's name; empty where none was weighed."""
    return {name: int(percent) for name, percent in re.findall(r"([a-z][a-z -]*) (\d+)%", as_text(row["laws"]))}


def _row(row: pd.Series) -> dict[str, Any]:
    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return {
        "workload": row["workload"],
        "of": row["forecast_of"],
        "series": f"{row['variant']} {row['scaling']}",
        "point": f"{row['variant']} {row['scaling']}, {ranks}, batch {int(row['batch_per_rank'])} per rank",
        **{name: shown(row, name) for name in HEADLINE},
        "measured": row["measured"],
        "laws": as_text(row["laws"]),
        "refused": as_text(row["refused"]),
    }
