"""The numbers of a comparison: what they are, their units, and how they are rounded."""

from __future__ import annotations

from math import isfinite
from typing import Any

from scalestudy.publish.quantities import QUANTITIES, Quantity, Row
from scalestudy.publish.rounding import DASH, Shown

_OF_A_STUDY = ("step_time_ms", "throughput_samples_per_s", "efficiency_percent", "accuracy_percent")

COMPARED: dict[str, Quantity] = {name: QUANTITIES[name] for name in _OF_A_STUDY} | {
    "throughput_ratio": Quantity(
        "throughput_ratio", "ratio of throughputs to the first study at the same point", limits="interval"
    ),
    "efficiency_difference_points": Quantity(
        "efficiency_difference", "efficiency less that of the first study", "points", 100, "interval"
    ),
    "accuracy_difference_points": Quantity(
        "accuracy_difference",
        "validation accuracy less that of the first study's launch of the same seed, mean",
        "points",
        100,
        "interval",
    ),
}
"""Of a row of a comparison's points."""


def shown(row: Row, name: str) -> Shown:
    """A number of a row, by name, as a reader sees it."""
    return COMPARED[name].shown(row)


def numbers_of(row: Row) -> dict[str, dict[str, Any]]:
    """Every number that a row has, with its unit, its limits, and the text that documents print."""
    found = {}
    for name, quantity in COMPARED.items():
        text = quantity.shown(row)
        if text.value == DASH:
            continue
        value, low, high = (number if isfinite(number) else None for number in quantity.of(row))
        printed = [text.value, text.low, text.high] if text.low else [text.value]
        found[name] = {
            "value": value,
            "low": low,
            "high": high,
            "unit": quantity.unit,
            "shown": printed,
            "what": quantity.what,
        }
    return found
