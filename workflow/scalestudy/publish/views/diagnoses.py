"""Diagnoses as a reader sees them: evidence, shares, and what each recommendation should bring, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import AS_MEASURED, Bottleneck, Diagnosis, Evidence, Prediction, Recommendation
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.keys import evidence_key, point_key, prediction_key, share_key
from scalestudy.publish.numbers.rounding import Shown, show, show_count
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, joined
from scalestudy.publish.words.points import VERDICTS, WITHOUT_RATIO

MOST_LISTED = 8
"""Points that a summary tells one by one; of more it tells the largest scales, and the verdicts of the others."""


@dataclass(frozen=True)
class Predicted:
    """A number of a prediction."""

    field: str
    before: str = ""
    """What stands before it in a sentence."""
    after: str = ""
    unit: str = ""
    factor: float = 1

    def of(self, prediction: Prediction | None) -> Interval:
        """In the printed unit; nan for what is not there."""
        found = getattr(prediction, self.field, nan)
        return (found if isinstance(found, Interval) else Interval(found)).scaled(self.factor)


PREDICTED = {
    "gain": Predicted("gain", after=" times the throughput"),
    "step_time_ms": Predicted("step_time_s", "a step of ", " ms", "ms", 1e3),
    "speedup": Predicted("speedup", "speedup "),
    "efficiency_percent": Predicted("efficiency", "efficiency ", " %", "%", 100),
    "peak_memory_gib": Predicted("peak_memory_gib", "peak memory ", " GiB a rank", "GiB"),
}


def diagnoses_view(diagnoses: Sequence[Diagnosis], rows: list[dict[str, Any]], book: Book) -> list[dict[str, Any]]:
    """Each diagnosis with the row it speaks of and everything in it as text."""
    by_key = {row["key"]: row for row in rows}
    return [_diagnosis(diagnosis, by_key[point_key(vars(diagnosis))], book) for diagnosis in diagnoses]


def leading(diagnoses: list[dict[str, Any]], *, most: int = MOST_LISTED) -> list[dict[str, Any]]:
    """All diagnoses where there are no more than `most`; else that of each series' largest scale.

    A series is a variant and way of scaling of a workload. `others` says what is found of its other scales:
    'healthy on 2 and 4 ranks; undecided on 8 ranks'; '' where there are none.
    """
    if len(diagnoses) <= most:
        return [diagnosis | {"others": ""} for diagnosis in diagnoses]
    found = []
    for *smaller, largest in by_series(diagnoses):
        said = "; ".join(f"{verdict} on {places}" for verdict, places in by_verdict(smaller))
        found.append(largest | {"others": said})
    return found


def by_series(diagnoses: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Those of each series, from the smallest scale to the largest."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for diagnosis in sorted(diagnoses, key=lambda diagnosis: (diagnosis["world_size"], diagnosis["nodes"])):
        found.setdefault(_series(diagnosis), []).append(diagnosis)
    return [found[series] for series in dict.fromkeys(map(_series, diagnoses))]


def _series(diagnosis: dict[str, Any]) -> tuple[str, ...]:
    return diagnosis["workload"], diagnosis["variant"], diagnosis["scaling"]


def by_verdict(diagnoses: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """('healthy', '2 and 4 ranks'), in the order in which verdicts come up."""
    found: dict[str, list[tuple[int, int]]] = {}
    for diagnosis in diagnoses:
        found.setdefault(diagnosis["verdict"], []).append((diagnosis["world_size"], diagnosis["nodes"]))
    return [(verdict, labels.places(places)) for verdict, places in found.items()]


def _diagnosis(diagnosis: Diagnosis, row: dict[str, Any], book: Book) -> dict[str, Any]:
    point = row["key"]
    return dict(diagnosis) | {
        "code": diagnosis.verdict,
        "verdict": VERDICTS[diagnosis.verdict],
        "has_ratio": diagnosis.verdict not in WITHOUT_RATIO,
        "ranks": labels.ranks(diagnosis.world_size, diagnosis.nodes),
        "row": row,
        "causes": ", ".join(f.cause for f in diagnosis.findings if f.cause != diagnosis.verdict),
        "limited_by": _limited_by(book, diagnosis.bottleneck, point),
        "findings": [
            dict(finding)
            | {"evidence": [_evidence(book, point, finding.cause, item) for item in finding.evidence]}
            for finding in diagnosis.findings
        ],
        "recommendations": [
            dict(item) | {"cause": cause, "prediction": _prediction(book, point, cause, item)}
            for cause, item in diagnosis.recommendations
        ],
    }


def _limited_by(book: Book, bottleneck: Bottleneck, point: str) -> Phrase:
    """'communication (communication 41%, compute 38%, launch 21%)'; '' where it is not known."""
    shares = sorted(bottleneck.shares.items(), key=lambda item: -item[1])
    said = [
        Phrase(f"{kind} ", book.piece(share_key(point, kind), "{}%")) for kind, share in shares if share >= 0.005
    ]
    return Phrase(f"{bottleneck.kind} (", joined(said), ")") if said else Phrase(bottleneck.kind)


def evidence_shown(item: Evidence) -> Shown:
    """The number of a piece of evidence; what was counted, in full."""
    counted = isnan(item.low) and not item.unit and (item.value or 0.5).is_integer()
    return show_count(item.value) if counted else show(item.value, item.low, item.high)


def _evidence(book: Book, point: str, cause: str, item: Evidence) -> Phrase:
    unit = f" {item.unit}" if item.unit else ""
    threshold = f" ({item.threshold})" if item.threshold else ""
    return Phrase(f"{item.name}: ", book.piece(evidence_key(point, cause, item.id)), f"{unit}{threshold}")


def _prediction(book: Book, point: str, cause: str, recommendation: Recommendation) -> Phrase:
    """What a recommendation should bring, in a sentence; or why that cannot be told."""
    prediction = recommendation.prediction
    keys = {name: prediction_key(point, cause, recommendation.id, name) for name in PREDICTED}
    numbers = [
        Phrase(PREDICTED[name].before, book.piece(key), PREDICTED[name].after)
        for name, key in keys.items()
        if book.number(key)
    ]
    if prediction is None:
        return Phrase(f"Not predicted: {recommendation.unpredicted}")
    if prediction.assumes == AS_MEASURED:
        return Phrase("Measured: ", joined(numbers), ".")
    return Phrase("Predicted: ", joined(numbers), f", {prediction.assumes}.")
