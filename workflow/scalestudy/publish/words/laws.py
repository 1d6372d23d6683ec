"""What a forecast rests on: what was measured, and how the overhead is taken to go on from there."""

from __future__ import annotations

import json

from scalestudy.analyse.forecast.columns import LAWS
from scalestudy.publish.numbers.keys import law_key
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, Piece, joined
from scalestudy.registry.codes import OverheadModel
from scalestudy.registry.column import Row

LEAST = 0.005
"""Of a weight that is told: less would read as 0 %."""
OVERHEAD = {OverheadModel.AS_MEASURED: "as measured", OverheadModel.BUCKET_PIPELINE: "by the pipeline of buckets"}


def measured(row: Row) -> str:
    """'1x1, 1x2', or 'one process at batch 8, 16'. row: of forecasts.csv."""
    if row["forecast_of"] == "scale":
        return ", ".join(json.loads(row["from_scales"]))
    return f"one process at batch {', '.join(map(str, json.loads(row['from_batches'])))}"


def law_percents(row: Row) -> dict[str, int]:
    """Per cent of every law of overhead in a forecast, the heaviest first; empty where none was weighed."""
    if row["overhead_model"] != OverheadModel.LAWS:
        return {}
    return {law: round(100 * weight) for law, weight in _weights(row) if weight >= LEAST}


def laws(row: Row) -> Phrase:
    """'linear 90%, logarithmic 10%', each weight with its key; or which there are, where nothing chooses."""
    model = row["overhead_model"]
    if model == OverheadModel.LAWS_ALIKE:
        return Phrase(f"{labels.listed([law for law, _ in _weights(row)])} alike: two sizes do not choose")
    if model in OVERHEAD:
        return Phrase(f"its step linear in the batch, overhead {OVERHEAD[model]}")
    shares = law_percents(row).items()
    return joined([Phrase(f"{law} ", Piece(str(percent), law_key(row, law)), "%") for law, percent in shares])


def _weights(row: Row) -> list[tuple[str, float]]:
    """(law, weight), the heaviest first."""
    found = [(law, row[f"law_{law}_weight"]) for law in LAWS]
    return sorted((item for item in found if item[1] == item[1]), key=lambda item: -item[1])
