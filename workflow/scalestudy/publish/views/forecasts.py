"""Forecasts as documents print them: values and data behind them, or the reason why there is no forecast."""

import json
from typing import Any

import pandas as pd

from scalestudy.analyse.forecast.columns import USUAL_NODE
from scalestudy.publish.numbers.keys import forecast_key, law_key
from scalestudy.publish.numbers.ledger import law_percents, law_weights
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, Piece, joined
from scalestudy.registry.codes import OverheadModel
from scalestudy.registry.column import Row
from scalestudy.registry.points import HEADLINE
from scalestudy.registry.words.refusals import no_forecast

OVERHEAD = {
    OverheadModel.AS_MEASURED: "as measured",
    OverheadModel.BUCKET_PIPELINE: "from the model of the bucket pipeline",
}
UNSEEN = (
    "Note: a forecast cannot see a resource that saturates only beyond the measured sizes, such as a data loader"
    " that supplies four devices and not eight, or a shared link. It is for the same tier of the machine."
)
"""What every forecast of a scale depends on."""
ONE_NODE = (
    " Imported runs are on one node unless their log or --nodes says otherwise. A node is taken to have"
    f" {USUAL_NODE} devices, or as many as an imported run had on one."
)
"""What is assumed of imported runs."""
SUPERLINEAR = (
    "an efficiency above 100 % only continues the measured ones; first find out why they are faster than linear,"
    " since the baseline may be slowed down or do other work"
)
"""Behind a forecast of more than linear scaling."""
LAW_WORDS = {"share": "1-1/n", "divided": "1/n"}
"""What a growth model is called in sentences, if not by its name."""


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
            "laws": Phrase(laws(row), f"; {SUPERLINEAR}") if row["efficiency"] > 1 else laws(row),
            "refused": no_forecast(row),
        }
        for row in forecasts.to_dict("records")
    ]


def refusals(view: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each reason for a missing forecast, with its points. view: from forecasts_view."""
    found: dict[str, list[str]] = {}
    for item in view:
        if item["refused"]:
            found.setdefault(item["refused"], []).append(f"{item['workload']}, {item['point']}")
    return [{"reason": reason, "points": points} for reason, points in found.items()]


def measured(row: Row) -> str:
    """'1x1, 1x2', or 'one process at batch 8, 16': the data behind a forecast."""
    if row["forecast_of"] == "scale":
        return ", ".join(json.loads(row["from_scales"]))
    return f"one process at batch {', '.join(map(str, json.loads(row['from_batches'])))}"


def laws(row: Row) -> Phrase:
    """The growth models of the overhead: 'linear 90 %, logarithmic 10 %', each weight with its key.

    Where the data cannot distinguish between the models, a sentence that lists them.
    """
    model = row["overhead_model"]
    if model == OverheadModel.LAWS_ALIKE:
        listed = labels.listed([LAW_WORDS.get(law, law) for law in law_weights(row)])
        return Phrase(f"two sizes cannot distinguish between {listed} growth; the interval covers all of these")
    if model in OVERHEAD:
        return Phrase(f"step time linear in the batch, overhead {OVERHEAD[model]}")
    shares = [(LAW_WORDS.get(law, law), law_key(row, law), percent) for law, percent in law_percents(row).items()]
    return joined([Phrase(f"{law} ", Piece(str(percent), key), " %") for law, key, percent in shares])
