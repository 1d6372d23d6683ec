"""The numbers of a comparison: what they are, their units, and how they are rounded."""

from __future__ import annotations

from scalestudy.publish.numbers.model import Value
from scalestudy.publish.numbers.rounding import DASH, Shown, shown_as, values_of
from scalestudy.registry.column import Column, Printed, Row
from scalestudy.registry.points import QUANTITIES

_OF_A_STUDY = ("step_time_ms", "throughput_samples_per_s", "efficiency_percent", "accuracy_percent")

_RATIO = "ratio of throughputs to the first study at the same point"
_EFFICIENCY = "efficiency less that of the first study"
_POINTS = ("points", 100)
_ACCURACY = "validation accuracy less that of the first study's launch of the same seed, mean"

COMPARED: dict[str, Column] = {name: QUANTITIES[name] for name in _OF_A_STUDY} | {
    "throughput_ratio": Column("throughput_ratio", _RATIO, "", "interval", Printed("throughput_ratio")),
    "efficiency_difference_points": Column(
        "efficiency_difference",
        _EFFICIENCY,
        "",
        "interval",
        Printed("efficiency_difference_points", *_POINTS),
    ),
    "accuracy_difference_points": Column(
        "accuracy_difference", _ACCURACY, "", "interval", Printed("accuracy_difference_points", *_POINTS)
    ),
}
"""Of a row of a comparison's points."""


def shown(row: Row, name: str) -> Shown:
    """A number of a row, by name, as a reader sees it."""
    return shown_as(COMPARED[name], values_of(row, COMPARED[name]))


def numbers_of(row: Row) -> dict[str, Value]:
    """Every number that a row has, with its unit, its limits, and the text that documents print."""
    found = {}
    for name, column in COMPARED.items():
        text = shown(row, name)
        if text.value == DASH:
            continue
        value, low, high = values_of(row, column)
        unit = column.printed.unit if column.printed else ""
        found[name] = Value(value=value, low=low, high=high, unit=unit, shown=text, what=column.meaning)
    return found
