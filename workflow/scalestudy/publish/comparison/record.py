"""A comparison as the files that hold it: what programs read (JSON, CSV), and what comparison.txt says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.study.compare import Comparison, Question
from scalestudy.analyse.study.questions import code_differences, environment_differences, setting_differences
from scalestudy.publish import labels
from scalestudy.publish.comparison.model import ComparedPoint, ComparedStudy, ComparisonFile, StudyAtPoint
from scalestudy.publish.comparison.named import Named
from scalestudy.publish.comparison.points import Rows, compared_points
from scalestudy.publish.comparison.sentences import (
    missing_sentences,
    point_text,
    refused_sentences,
    remarks,
    setting_texts,
    summary_sentences,
)
from scalestudy.publish.environment import environment_view, hardware_view
from scalestudy.publish.launches import dates_of
from scalestudy.publish.rounding import DASH
from scalestudy.registry.codes import NotCompared
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import outcomes

NOT_RECORDED = "not recorded"
CODES = ("throughput_shows", "efficiency_shows", "accuracy_shows", "not_compared")


def comparison_file(comparison: Comparison, named: Sequence[Named], points: Sequence[Rows]) -> ComparisonFile:
    """The content of comparison.json. points: as points_of has them."""
    sources, letters = [one.source for one in named], [one.letter for one in named]
    report = sources[0].plan.study.report
    settings = [
        *setting_differences([source.plan for source in sources]),
        *code_differences([source.runs for source in sources]),
    ]
    refused = [
        {
            "study": refusal.letter,
            "workload": refusal.workload,
            "variant": refusal.variant,
            "keys": {item.key: item.values for item in refusal.differences},
        }
        for refusal in comparison.refusals
    ]
    content = {
        "scalestudy": __version__,
        "confidence": report.confidence,
        "accuracy_margin": report.accuracy_margin,
        "studies": [_study(one) for one in named],
        "summary": summary_sentences(points, named),
        "points": [_point(rows) for rows in points],
        "environment": _environment(named),
        "settings": {item.key: dict(zip(letters, setting_texts(item), strict=True)) for item in settings},
        "warnings": {source.letter: source.environment.warnings for source in sources},
        "refused": refused,
        "not_compared": [*refused_sentences(comparison, named), *missing_sentences(points, named)],
    }
    return ComparisonFile.model_validate(content)


def comparison_frame(comparison: Comparison, named: Sequence[Named]) -> pd.DataFrame:
    """comparison.csv: a row per point and study, in SI units, with the study's name beside its letter."""
    names = {one.letter: one.name for one in named}
    frame = comparison.points.copy()
    frame.insert(1, "name", frame["study"].map(names))
    return frame


def comparison_view(file: ComparisonFile, points: Sequence[Rows]) -> dict[str, Any]:
    """Values for report/templates/comparison.txt: the file, and what can be said of the points."""
    margin = labels.points(file.accuracy_margin)
    others = [row for rows in points for row in list(rows.values())[1:]]
    return file.model_dump(exclude={"points"}) | {
        "confidence": f"{file.confidence:.0%}",
        "one_in": f"{1 / (1 - file.confidence):.0f}",
        "workloads": {
            workload: [
                {"point": point_text(first), "rows": [first, *others], "remarks": _remarks(first, others, margin)}
                for first, *others in (rows.values() for rows in mine)
            ]
            for workload, mine in compared_points(points).items()
        },
        "references": sum(row["is_reference"] and row["not_compared"] == NotCompared.NONE for row in others),
    }


def _remarks(first: Row, others: Sequence[Row], margin: str) -> list[str]:
    """Each once: what is said of the first study may be said beside every other."""
    return list(dict.fromkeys(text for row in others for text in remarks(first, row, margin=margin)))


def _study(one: Named) -> ComparedStudy:
    runs = one.source.runs
    made = runs[runs["outcome"] != "unneeded"]
    return ComparedStudy(
        letter=one.letter,
        name=one.name,
        study=one.source.plan.study.name,
        folder=one.folder,
        launches=len(made),
        measured=dates_of(made),
    )


def _point(rows: Rows) -> ComparedPoint:
    first = next(iter(rows.values()))
    known = {name: first[name] for name in (*Question._fields, "world_size")}
    studies = {letter: _at_point(row) for letter, row in rows.items()}
    return ComparedPoint(**known, point=point_text(first), studies=studies)


def _at_point(row: Row) -> StudyAtPoint:
    known = {name: row[name] for name in ("launches", "launches_ok", *CODES)}
    numbers = {name: number for name, number in row["numbers"].items() if number.shown.value != DASH}
    return StudyAtPoint(**known, outcomes=outcomes(row), numbers=numbers)


def _environment(named: Sequence[Named]) -> dict[str, dict[str, str]]:
    """Facts that differ, by their names for readers: the text of each study by its letter."""
    differing = environment_differences([one.source.environment for one in named])
    said = [dict([*hardware_view(facts), *environment_view(facts)]) for facts in differing]
    return {
        name: {one.letter: texts.get(name, NOT_RECORDED) for one, texts in zip(named, said, strict=True)}
        for name in dict.fromkeys(name for texts in said for name in texts)
    }
