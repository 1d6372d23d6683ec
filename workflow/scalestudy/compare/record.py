"""The files of a comparison: for programs (JSON, CSV) and for readers (comparison.txt)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.study.compare import Comparison, Question, Source
from scalestudy.analyse.study.questions import code_differences, environment_differences, setting_differences
from scalestudy.compare.model import ComparedPoint, ComparedStudy, ComparisonFile, StudyAtPoint
from scalestudy.compare.points import Rows, compared_points
from scalestudy.compare.sentences import (
    missing_sentences,
    point_text,
    refused_sentences,
    remarks,
    setting_texts,
    summary_sentences,
)
from scalestudy.publish.environment import environment_view, hardware_view
from scalestudy.publish.numbers.provenance import dates_of
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.words import labels
from scalestudy.registry.codes import NotCompared
from scalestudy.registry.column import Row
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import outcomes

NOT_RECORDED = "not recorded"
CODES = ("throughput_shows", "efficiency_shows", "accuracy_shows", "not_compared")


def comparison_file(comparison: Comparison, studies: Sequence[Source], points: Sequence[Rows]) -> ComparisonFile:
    """The content of comparison.json. points: from points_of."""
    letters, report = [one.letter for one in studies], studies[0].plan.study.report
    settings = setting_differences([one.plan for one in studies]) | code_differences([one.runs for one in studies])
    return ComparisonFile(
        scalestudy=__version__,
        confidence=report.confidence,
        accuracy_margin=report.accuracy_margin,
        studies=tuple(_study(one) for one in studies),
        summary=tuple(summary_sentences(points, studies)),
        points=tuple(_point(rows) for rows in points),
        environment=_environment(studies),
        settings={key: dict(zip(letters, setting_texts(given), strict=True)) for key, given in settings.items()},
        warnings={one.letter: one.environment.warnings for one in studies},
        refused=comparison.refusals,
        not_compared=(*refused_sentences(comparison, letters[0]), *missing_sentences(points, letters)),
    )


def comparison_frame(comparison: Comparison, studies: Sequence[Source]) -> pd.DataFrame:
    """comparison.csv: a row per point and study, in SI units, with the study's letter and name."""
    names = {one.letter: one.name for one in studies}
    frame = comparison.points.copy()
    frame.insert(1, "name", frame["study"].map(names))
    return frame


def comparison_view(file: ComparisonFile, points: Sequence[Rows]) -> dict[str, Any]:
    """Values for report/templates/comparison.txt: the content of the file, with remarks on the points."""
    margin = labels.points(file.accuracy_margin)
    others = [row for rows in points for row in list(rows.values())[1:]]
    return file.model_dump(exclude={"points"}) | {
        "confidence": percent(file.confidence),
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
    """All remarks, without the repetitions of those on the first study."""
    return list(dict.fromkeys(text for row in others for text in remarks(first, row, margin=margin)))


def _study(one: Source) -> ComparedStudy:
    made = one.runs[one.runs["outcome"] != "unneeded"]
    return ComparedStudy(
        letter=one.letter,
        name=one.name,
        study=one.plan.study.name,
        folder=one.folder,
        launches=len(made),
        measured=dates_of(made),
        imported=one.plan.study.imported,
    )


def _point(rows: Rows) -> ComparedPoint:
    first = next(iter(rows.values()))
    known = {name: first[name] for name in (*Question.model_fields, "world_size")}
    studies = {letter: _at_point(row) for letter, row in rows.items()}
    return ComparedPoint(**known, point=point_text(first), studies=studies)


def _at_point(row: Row) -> StudyAtPoint:
    known = {name: row[name] for name in ("launches", "launches_ok", *CODES)}
    numbers = {name: number for name, number in row["numbers"].items() if number.shown.value != DASH}
    return StudyAtPoint(**known, outcomes=outcomes(row), numbers=numbers)


def _environment(studies: Sequence[Source]) -> dict[str, dict[str, str]]:
    """Facts that differ, by printed name: the text of each study by its letter."""
    differing = environment_differences([one.environment for one in studies])
    said = [dict([*hardware_view(facts), *environment_view(facts)]) for facts in differing]
    table = pd.DataFrame(said, index=[one.letter for one in studies]).fillna(NOT_RECORDED)
    return {str(name): dict(texts) for name, texts in table.items()}
