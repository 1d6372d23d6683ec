"""Forecasts as a reader sees them: where they rest, what they say, or why there is none."""

import json
from typing import Any

import pandas as pd

from scalestudy.publish.numbers.keys import forecast_key, law_key
from scalestudy.publish.numbers.ledger import law_percents, law_weights
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, Piece, joined
from scalestudy.registry.codes import OverheadModel
from scalestudy.registry.column import Row
from scalestudy.registry.points import HEADLINE
from scalestudy.registry.words.refusals import no_forecast

OVERHEAD = {OverheadModel.AS_MEASURED: "as measured", OverheadModel.BUCKET_PIPELINE: "by the pipeline of buckets"}


def forecasts_view(forecasts: pd.DataFrame, numbers: NumbersFile) -> list[dict[str, Any]]:
    """A dictionary of text for every row of forecasts.csv, in its order."""
    return [
        {
            "key": (key := forecast_key(row)),
            "workload": row["workload"],
            "of": row["forecast_of"],
            "point": labels.point(row),
            **{name: numbers.shown(f"{key}.{name}") for name in HEADLINE},
            "measured": measured(row),
            "laws": laws(row),
            "refused": no_forecast(row),
        }
        for row in forecasts.to_dict("records")
    ]


def refusals(view: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each reason for which there is no forecast, with the points that it holds for; of forecasts_view."""
    found: dict[str, list[str]] = {}
    for item in view:
        if item["refused"]:
            found.setdefault(item["refused"], []).append(f"{item['workload']}, {item['point']}")
    return [{"reason": reason, "points": points} for reason, points in found.items()]


def measured(row: Row) -> str:
    """'1x1, 1x2', or 'one process at batch 8, 16': what a forecast was made from."""
    if row["forecast_of"] == "scale":
        return ", ".join(json.loads(row["from_scales"]))
    return f"one process at batch {', '.join(map(str, json.loads(row['from_batches'])))}"


def laws(row: Row) -> Phrase:
    """How the overhead is taken to go on from there: 'linear 90%, logarithmic 10%', each weight with its key; or
    which laws there are, where nothing chooses.
    """
    model = row["overhead_model"]
    if model == OverheadModel.LAWS_ALIKE:
        return Phrase(f"{labels.listed(list(law_weights(row)))} alike: two sizes do not choose")
    if model in OVERHEAD:
        return Phrase(f"its step linear in the batch, overhead {OVERHEAD[model]}")
    shares = law_percents(row).items()
    return joined([Phrase(f"{law} ", Piece(str(percent), law_key(row, law)), "%") for law, percent in shares])
