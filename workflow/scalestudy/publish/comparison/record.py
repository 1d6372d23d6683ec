"""A comparison as files that programs read: comparison.json and comparison.csv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.study.compare import Comparison
from scalestudy.publish.comparison.conditions import conditions_view
from scalestudy.publish.comparison.named import Named
from scalestudy.publish.comparison.quantities import numbers_of
from scalestudy.publish.comparison.sentences import (
    missing_sentences,
    point_text,
    question_columns,
    refused_sentences,
)
from scalestudy.publish.comparison.view import sentences, study_view
from scalestudy.registry.words.points import outcomes

SCHEMA_VERSION = 1
CODES = ("throughput_shows", "efficiency_shows", "accuracy_shows", "not_compared")


def comparison_json(comparison: Comparison, named: Sequence[Named]) -> dict[str, Any]:
    """Everything that the text says, with every number as it is printed (`shown`), and with all its digits."""
    report = named[0].source.plan.study.report
    return {
        "schema_version": SCHEMA_VERSION,
        "scalestudy": __version__,
        "confidence": report.confidence,
        "accuracy_margin": report.accuracy_margin,
        "studies": [study_view(one) for one in named],
        "summary": sentences(comparison, named),
        "points": [
            _point(rows) for _, rows in comparison.points.groupby(question_columns(), sort=False, dropna=False)
        ],
        **conditions_view(named),
        "refused": [
            {
                "study": refusal.letter,
                "workload": refusal.workload,
                "variant": refusal.variant,
                "keys": {item.key: list(item.values) for item in refusal.differences},
            }
            for refusal in comparison.refusals
        ],
        "not_compared": [*refused_sentences(comparison, named), *missing_sentences(comparison.points, named)],
    }


def comparison_frame(comparison: Comparison, named: Sequence[Named]) -> pd.DataFrame:
    """comparison.csv: a row per point and study, in SI units, with the study's name beside its letter."""
    names = {one.letter: one.name for one in named}
    frame = comparison.points.copy()
    frame.insert(1, "name", frame["study"].map(names))
    return frame


def _point(rows: pd.DataFrame) -> dict[str, Any]:
    first = rows.iloc[0]
    where = {name: first[name] for name in question_columns()}
    return {
        **{name: value if isinstance(value, str) else int(value) for name, value in where.items()},
        "world_size": int(first["world_size"]),
        "point": point_text(first),
        "studies": {
            row["study"]: {
                "launches": int(row["launches"]),
                "launches_ok": int(row["launches_ok"]),
                "outcomes": outcomes(row),
                **{name: row[name] for name in CODES},
                "numbers": numbers_of(row),
            }
            for _, row in rows.iterrows()
        },
    }
