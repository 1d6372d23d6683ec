"""The smallest difference that a study can detect, as documents print it."""

from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.study.floors import claims_below, floor_of
from scalestudy.publish.numbers.keys import floor_key, point_key
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.results import Results
from scalestudy.publish.words import floors as words
from scalestudy.registry.codes import Claim, Shows
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan


def floors_view(study: Study, floors: pd.DataFrame, numbers: NumbersFile) -> dict[str, Any]:
    """`rows`, a table of baselines with sentences for each; `missing`, sentences where nothing is known."""
    rows = floors.to_dict("records")
    known = [row for row in rows if not isnan(row["smallest_difference"])]
    return {
        "rows": [
            {
                "key": (key := floor_key(row)),
                "base_case": words.base_case(row),
                "differs": row["shows"] in (Shows.FASTER, Shows.SLOWER),
                "sentences": [numbers.phrase(key, text) for text in words.sentences(row, study)],
            }
            for row in known
        ],
        "most": any(row["most_repeats"] > row["repeats_compared"] for row in known),
        "drift": any(not isnan(row["shared_variance"]) for row in known),
        "missing": [words.unknown(row) for row in rows if isnan(row["smallest_difference"])]
        if rows
        else [words.NOT_MEASURED],
    }


def add_floor_notes(rows: list[dict[str, Any]], plan: Plan, results: Results, numbers: NumbersFile) -> None:
    """Add a note to every row of rows_view with a stated difference below the smallest detectable one.

    Also adds `verdict_below_floor`: whether the verdict rests on such a difference.
    """
    measured = {point_key(row): row for row in results.summary.to_dict("records")}
    for row in rows:
        point = measured[row["key"]]
        floor, row["verdict_below_floor"] = floor_of(point, results.floors), False
        if floor is not None:
            key, smallest = floor_key(floor), float(floor["smallest_difference"])
            claims = list(claims_below(point, smallest, plan.study.report))
            row["verdict_below_floor"] = Claim.BASE in claims or Claim.TARGET in claims
            row["notes"] += [numbers.phrase(key, words.note(claim, point)) for claim in claims]
