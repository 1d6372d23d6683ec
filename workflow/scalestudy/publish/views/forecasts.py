"""Forecasts as a reader sees them: where they rest, what they say, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.keys import forecast_key, point_key
from scalestudy.publish.numbers.model import PointSource
from scalestudy.publish.words import labels
from scalestudy.publish.words.laws import laws, measured
from scalestudy.registry.column import Row
from scalestudy.registry.points import HEADLINE
from scalestudy.registry.words.refusals import no_forecast


def forecasts_view(forecasts: pd.DataFrame, book: Book) -> list[dict[str, Any]]:
    """A dictionary of text for every row of forecasts.csv, in its order."""
    return [_row(row, book) for _, row in forecasts.iterrows()]


def refusals(view: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each reason for which there is no forecast, with the points that it holds for; of forecasts_view."""
    found: dict[str, list[str]] = {}
    for item in view:
        if item["refused"]:
            found.setdefault(item["refused"], []).append(f"{item['workload']}, {item['point']}")
    return [{"reason": reason, "points": points} for reason, points in found.items()]


def points_behind(row: Row, points: Mapping[str, PointSource]) -> list[str]:
    """Keys of the points that a forecast rests on: base case and series; of another batch, one process by batch.

    row: of forecasts.csv. points: those of numbers.json.
    """
    mine = {key: point for key, point in points.items() if point.workload == row["workload"]}
    named = (row["variant"], row["scaling"])
    series = [key for key, point in mine.items() if (point.variant, point.scaling) == named]
    bases = dict.fromkeys(base for key in series if (base := mine[key].base))
    if row["forecast_of"] == "scale":
        return [*(key for key in bases if key not in series), *series]
    here = [key for key in series if key == point_key(row)]
    variants = {mine[key].variant for key in bases}
    alone = [key for key, point in mine.items() if point.world_size == 1 and point.variant in variants]
    return [*alone, *here]


def _row(row: pd.Series, book: Book) -> dict[str, Any]:
    key = forecast_key(row)
    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return {
        "key": key,
        "workload": row["workload"],
        "of": row["forecast_of"],
        "series": f"{row['variant']} {row['scaling']}",
        "point": f"{row['variant']} {row['scaling']}, {ranks}, batch {int(row['batch_per_rank'])} per rank",
        **{name: book.shown(f"{key}.{name}") for name in HEADLINE},
        "measured": measured(row),
        "laws": laws(row),
        "refused": no_forecast(row),
    }
