"""Diagnoses as a reader sees them: evidence, shares, and what each recommendation should bring, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scalestudy.diagnose.findings import AS_MEASURED
from scalestudy.publish import labels
from scalestudy.publish.keys import evidence_keys, point_key, prediction_key, share_key
from scalestudy.publish.phrases import Phrase, Piece, joined
from scalestudy.publish.rounding import DASH, Shown, show, show_count

MOST_LISTED = 8
"""Points that a summary tells one by one; of more it tells the largest scales, and the verdicts of the others."""


@dataclass(frozen=True)
class Predicted:
    """A number of a prediction."""

    field: str
    sentence: str
    unit: str = ""
    factor: float = 1

    def of(self, prediction: dict[str, Any] | None) -> tuple[Shown, tuple[float | None, ...]]:
        """(as a reader sees it, (value, low, high) in the printed unit); None for what is not there."""
        given = prediction[self.field] if prediction else None
        parts = given.values() if isinstance(given, dict) else (given, None, None)
        numbers = tuple(None if part is None else part * self.factor for part in parts)
        return show(*numbers), numbers


PREDICTED = {
    "gain": Predicted("gain", "{} times the throughput"),
    "step_time_ms": Predicted("step_time_s", "a step of {} ms", "ms", 1e3),
    "speedup": Predicted("speedup", "speedup {}"),
    "efficiency_percent": Predicted("efficiency", "efficiency {} %", "%", 100),
    "peak_memory_gib": Predicted("peak_memory_gib", "peak memory {} GiB a rank", "GiB"),
}


def diagnoses_view(diagnoses: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each diagnosis with the row it speaks of and everything in it as text."""
    by_key = {row["key"]: row for row in rows}
    return [_diagnosis(diagnosis, by_key[point_key(diagnosis)]) for diagnosis in diagnoses]


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


def _diagnosis(diagnosis: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    point = row["key"]
    return diagnosis | {
        "ranks": labels.ranks(diagnosis["world_size"], diagnosis["nodes"]),
        "row": row,
        "causes": ", ".join(f["cause"] for f in diagnosis["findings"] if f["cause"] != diagnosis["verdict"]),
        "limited_by": _limited_by(diagnosis["bottleneck"], point),
        "findings": [
            finding | {"evidence": [*map(_evidence, finding["evidence"], evidence_keys(point, finding))]}
            for finding in diagnosis["findings"]
        ],
        "recommendations": [
            item | {"prediction": _prediction(item, point, position)}
            for position, item in enumerate(diagnosis["recommendations"], start=1)
        ],
    }


def _limited_by(bottleneck: dict[str, Any], point: str) -> Phrase:
    """'communication (communication 41%, compute 38%, launch 21%)'; '' where it is not known."""
    shares = sorted(bottleneck["shares"].items(), key=lambda item: -item[1])
    said = [
        Phrase(f"{kind} ", Piece(f"{share:.0%}", share_key(point, kind)))
        for kind, share in shares
        if share >= 0.005
    ]
    return Phrase(f"{bottleneck['kind']} (", joined(said), ")") if said else Phrase(bottleneck["kind"])


def evidence_shown(item: dict[str, Any]) -> Shown:
    """The number of a piece of evidence; what was counted, in full."""
    counted = item["low"] is None and not item["unit"] and float(item["value"] or 0.5).is_integer()
    return show_count(item["value"]) if counted else show(item["value"], item["low"], item["high"])


def _evidence(item: dict[str, Any], key: str) -> Phrase:
    unit = f" {item['unit']}" if item["unit"] else ""
    threshold = f" ({item['threshold']})" if item["threshold"] else ""
    return Phrase(f"{item['name']}: ", Piece(str(evidence_shown(item)), key), f"{unit}{threshold}")


def _prediction(recommendation: dict[str, Any], point: str, position: int) -> Phrase:
    """What a recommendation should bring, in a sentence; or why that cannot be told."""
    prediction, numbers = recommendation["prediction"], []
    for name, quantity in PREDICTED.items():
        text, _ = quantity.of(prediction)
        if text.value != DASH:
            before, after = quantity.sentence.split("{}")
            numbers.append(Phrase(before, Piece(str(text), prediction_key(point, position, name)), after))
    if prediction is None:
        return Phrase(f"Not predicted: {recommendation['unpredicted']}")
    if prediction["assumes"] == AS_MEASURED:
        return Phrase("Measured: ", joined(numbers), ".")
    return Phrase("Predicted: ", joined(numbers), f", {prediction['assumes']}.")
