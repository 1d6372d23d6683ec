"""Diagnoses as a reader sees them: evidence, shares, and what each recommendation should bring, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scalestudy.diagnose.findings import AS_MEASURED
from scalestudy.publish import labels
from scalestudy.publish.rounding import DASH, Shown, show, show_count


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
    by_key = {_key(row): row for row in rows}
    return [
        diagnosis
        | {
            "ranks": labels.ranks(diagnosis["world_size"], diagnosis["nodes"]),
            "row": by_key[_key(diagnosis | {"ranks": diagnosis["world_size"]})],
            "causes": ", ".join(f["cause"] for f in diagnosis["findings"] if f["cause"] != diagnosis["verdict"]),
            "limited_by": _limited_by(diagnosis["bottleneck"]),
            "findings": [
                finding | {"evidence": [_evidence(item) for item in finding["evidence"]]}
                for finding in diagnosis["findings"]
            ],
            "recommendations": [
                item | {"prediction": _prediction(item["prediction"]) or f"Not predicted: {item['unpredicted']}"}
                for item in diagnosis["recommendations"]
            ],
        }
        for diagnosis in diagnoses
    ]


def _key(item: dict[str, Any]) -> tuple:
    return tuple(item[name] for name in ("workload", "variant", "scaling", "ranks", "nodes", "batch_per_rank"))


def _limited_by(bottleneck: dict[str, Any]) -> str:
    """'communication (communication 41%, compute 38%, launch 21%)'; '' where it is not known."""
    shares = sorted(bottleneck["shares"].items(), key=lambda item: -item[1])
    said = [f"{kind} {share:.0%}" for kind, share in shares if share >= 0.005]
    return f"{bottleneck['kind']} ({', '.join(said)})" if said else bottleneck["kind"]


def evidence_shown(item: dict[str, Any]) -> Shown:
    """The number of a piece of evidence; what was counted, in full."""
    counted = item["low"] is None and not item["unit"] and float(item["value"] or 0.5).is_integer()
    return show_count(item["value"]) if counted else show(item["value"], item["low"], item["high"])


def _evidence(item: dict[str, Any]) -> str:
    unit = f" {item['unit']}" if item["unit"] else ""
    threshold = f" ({item['threshold']})" if item["threshold"] else ""
    return f"{item['name']}: {evidence_shown(item)}{unit}{threshold}"


def _prediction(prediction: dict[str, Any] | None) -> str:
    """One sentence; '' where there is none."""
    if prediction is None:
        return ""
    said = [(quantity.of(prediction)[0], quantity.sentence) for quantity in PREDICTED.values()]
    numbers = ", ".join(text.format(number) for number, text in said if number.value != DASH)
    if prediction["assumes"] == AS_MEASURED:
        return f"Measured: {numbers}."
    return f"Predicted: {numbers}, {prediction['assumes']}."
