"""Diagnoses as a reader sees them: evidence, shares, and what each recommendation should bring, as text."""

from __future__ import annotations

from typing import Any

from scalestudy.diagnose.findings import AS_MEASURED
from scalestudy.publish import labels
from scalestudy.publish.numbers import DASH, Shown, show


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


def _evidence(item: dict[str, Any]) -> str:
    counted = item["low"] is None and not item["unit"] and float(item["value"] or 0.5).is_integer()
    number = f"{item['value']:.0f}" if counted else show(item["value"], item["low"], item["high"])
    unit = f" {item['unit']}" if item["unit"] else ""
    threshold = f" ({item['threshold']})" if item["threshold"] else ""
    return f"{item['name']}: {number}{unit}{threshold}"


def _prediction(prediction: dict[str, Any] | None) -> str:
    """One sentence; '' where there is none."""
    if prediction is None:
        return ""

    def shown(name: str, factor: float = 1) -> Shown:
        return show(**prediction[name], factor=factor)

    said = [
        (shown("gain"), "{} times the throughput"),
        (shown("step_time_s", 1e3), "a step of {} ms"),
        (shown("speedup"), "speedup {}"),
        (shown("efficiency", 100), "efficiency {} %"),
        (show(prediction["peak_memory_gib"]), "peak memory {} GiB a rank"),
    ]
    numbers = ", ".join(text.format(number) for number, text in said if number.value != DASH)
    if prediction["assumes"] == AS_MEASURED:
        return f"Measured: {numbers}."
    return f"Predicted: {numbers}, {prediction['assumes']}."
