"""A comparison as files that programs read: comparison.json and comparison.csv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.study.compare import Comparison
from scalestudy.publish.comparison.conditions import conditions_view
from scalestudy.publish.comparison.model import ComparisonFile
from scalestudy.publish.comparison.named import Named
from scalestudy.publish.comparison.quantities import numbers_of
from scalestudy.publish.comparison.sentences import (
    missing_sentences,
    point_text,
    question_columns,
    refused_sentences,
)
from scalestudy.publish.comparison.view import sentences, study_view
from scalestudy.registry.words.outcomes import outcomes

CODES = ("throughput_shows", "efficiency_shows", "accuracy_shows", "not_compared")


def comparison_file(comparison: Comparison, named: Sequence[Named]) -> ComparisonFile:
    """The content of comparison.json."""
    report = named[0].source.plan.study.report
    points = comparison.points.groupby(question_columns(), sort=False, dropna=False)
    conditions = conditions_view(named)
    content = {
        "scalestudy": __version__,
        "confidence": report.confidence,
        "accuracy_margin": report.accuracy_margin,
        "studies": [study_view(one) for one in named],
        "summary": sentences(comparison, named),
        "points": [_point(rows) for _, rows in points],
        **{name: _by_letter(conditions[name]) for name in ("environment", "settings")},
        "warnings": {one.letter: one.source.environment.warnings for one in named},
        "refused": [
            {
                "study": refusal.letter,
                "workload": refusal.workload,
                "variant": refusal.variant,
                "keys": {item.key: item.values for item in refusal.differences},
            }
            for refusal in comparison.refusals
        ],
        "not_compared": [*refused_sentences(comparison, named), *missing_sentences(comparison.points, named)],
    }
    return ComparisonFile.model_validate(content)


def _by_letter(view: Sequence[dict[str, Any]]) -> dict[str, dict[str, str]]:
    return {item["name"]: {value["letter"]: value["text"] for value in item["values"]} for item in view}


def comparison_frame(comparison: Comparison, named: Sequence[Named]) -> pd.DataFrame:
    """comparison.csv: a row per point and study, in SI units, with the study's name beside its letter."""
    names = {one.letter: one.name for one in named}
    frame = comparison.points.copy()
    frame.insert(1, "name", frame["study"].map(names))
    return frame


def _point(rows: pd.DataFrame) -> dict[str, Any]:
    first = rows.iloc[0]
    return {
        **{name: first[name] for name in (*question_columns(), "world_size")},
        "point": point_text(first),
        "studies": {
            row["study"]: {
                "outcomes": outcomes(row),
                **{name: row[name] for name in ("launches", "launches_ok", *CODES)},
                "numbers": numbers_of(row),
            }
            for _, row in rows.iterrows()
        },
    }
