"""Forecasts as a reader sees them: where they rest, what they say, or why there is none."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.publish import labels
from scalestudy.publish.measured import as_text
from scalestudy.publish.numbers import Shown, show


def forecasts_view(forecasts: pd.DataFrame) -> list[dict[str, Any]]:
    """A dictionary of text for every row of forecasts.csv, in its order."""
    return [_row(row) for _, row in forecasts.iterrows()]


def _row(row: pd.Series) -> dict[str, Any]:
    def shown(column: str, factor: float = 1) -> Shown:
        return show(row[column], row[f"{column}_low"], row[f"{column}_high"], factor=factor)

    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return {
        "workload": row["workload"],
        "of": row["forecast_of"],
        "series": f"{row['variant']} {row['scaling']}",
        "point": f"{row['variant']} {row['scaling']}, {ranks}, batch {int(row['batch_per_rank'])} per rank",
        "speedup": shown("speedup"),
        "efficiency_percent": shown("efficiency", 100),
        "step_time_ms": shown("step_time_s", 1e3),
        "throughput": shown("throughput_samples_per_s"),
        "measured": row["measured"],
        "laws": as_text(row["laws"]),
        "refused": as_text(row["refused"]),
    }
