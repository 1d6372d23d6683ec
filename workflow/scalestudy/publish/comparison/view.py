"""A comparison as its text has it: studies, sentences, a table a workload, what differs, what was not compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.study.compare import Comparison
from scalestudy.publish.comparison.conditions import conditions_view
from scalestudy.publish.comparison.named import Named
from scalestudy.publish.comparison.quantities import shown
from scalestudy.publish.comparison.sentences import (
    missing_sentences,
    point_text,
    question_columns,
    refused_sentences,
    remarks,
    workload_sentence,
)
from scalestudy.publish.numbers.provenance import dates_of
from scalestudy.publish.words import labels
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.codes import NotCompared


def comparison_view(comparison: Comparison, named: Sequence[Named]) -> dict[str, Any]:
    """Values for report/templates/comparison.txt."""
    report = named[0].source.plan.study.report
    margin = labels.points(report.accuracy_margin)
    points, compared = comparison.points, comparison.compared
    return {
        "version": __version__,
        "studies": [study_view(one) for one in named],
        "first": named[0].letter,
        "others": labels.listed([one.letter for one in named[1:]]),
        "confidence": f"{report.confidence:.0%}",
        "one_in": f"{1 / (1 - report.confidence):.0f}",
        "sentences": sentences(comparison, named),
        "workloads": [
            {
                "name": workload,
                "points": [_point(rows, margin) for rows in groups],
            }
            for workload, groups in compared_points(points).items()
        ],
        "references": int(compared["is_reference"].sum()),
        **conditions_view(named),
        "refused": refused_sentences(comparison, named),
        "missing": missing_sentences(points, named),
    }


def study_view(one: Named) -> dict[str, Any]:
    """What a study is, and when it was measured."""
    runs = one.source.runs
    made = runs[runs["outcome"] != "unneeded"]
    return {
        "letter": one.letter,
        "name": one.name,
        "study": one.source.plan.study.name,
        "folder": one.folder,
        "launches": len(made),
        "measured": dates_of(made),
    }


def sentences(comparison: Comparison, named: Sequence[Named]) -> list[str]:
    """One for every workload that two studies have, and every study that is held against the first."""
    points, compared = comparison.points, comparison.compared
    having = points.groupby("workload", sort=False)["study"].agg(set)
    return [
        workload_sentence(
            str(workload),
            named[0],
            other,
            compared[(compared["workload"] == workload) & (compared["study"] == other.letter)],
        )
        for workload, letters in having.items()
        for other in named[1:]
        if {named[0].letter, other.letter} <= letters
    ]


def compared_points(points: pd.DataFrame) -> dict[str, list[pd.DataFrame]]:
    """By workload the rows of each point that is held against the first study's; references are for the CSV."""
    found: dict[str, list[pd.DataFrame]] = {}
    kept = points[~points["is_reference"]]
    for _, rows in kept.groupby(question_columns(), sort=False):
        if (rows["not_compared"].iloc[1:] == NotCompared.NONE).any():
            found.setdefault(rows["workload"].iloc[0], []).append(rows)
    return found


def _point(rows: pd.DataFrame, margin: str) -> dict[str, Any]:
    """A point: its table and what can be said. rows: the first study's, then the others'."""
    first, *others = [row for _, row in rows.iterrows()]
    return {
        "point": point_text(first),
        "rows": [
            {
                "letter": row["study"],
                "step_time_ms": failure_word(row) or str(shown(row, "step_time_ms")),
                "throughput_ratio": str(shown(row, "throughput_ratio")) if row is not first else "",
                "efficiency_percent": str(shown(row, "efficiency_percent")),
            }
            for row in (first, *others)
        ],
        "remarks": list(dict.fromkeys(text for row in others for text in remarks(first, row, margin=margin))),
    }
