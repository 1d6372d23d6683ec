"""The points of a comparison as documents print them, with every number of a row as text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scalestudy.analyse.study.compare import NUMBERS, Comparison, Question
from scalestudy.publish.numbers.model import Value
from scalestudy.publish.numbers.rounding import Shown, printed_of, shown_as, values_of
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.codes import NotCompared
from scalestudy.registry.column import Column, Printed, Row
from scalestudy.registry.points import QUANTITIES, percent, ratio

Rows = Mapping[str, Row]
"""Rows of a point from Comparison.points, with `numbers` and `failure`, by the letter of the study."""

_EFFICIENCY = Column(
    "efficiency_difference",
    "efficiency minus the first study's efficiency",
    limits="interval",
    printed=Printed("efficiency_difference_points", "points", 100),
)
_ACCURACY = "validation accuracy minus the accuracy of the first study's run with the same seed, mean"
_COMPARED: dict[str, Column] = {
    **{name: QUANTITIES[name] for name in NUMBERS},
    "throughput_ratio": ratio("throughput_ratio", "ratio of throughputs to the first study at the same point"),
    "efficiency_difference_points": _EFFICIENCY,
    "smallest_difference_percent": percent(
        "smallest_difference", "smallest difference that both studies can detect, by identical baselines"
    ),
    "accuracy_difference_points": replace(QUANTITIES["accuracy_difference_points"], meaning=_ACCURACY),
}


def points_of(comparison: Comparison) -> list[Rows]:
    """All points in the order of the comparison."""
    groups = comparison.points.groupby(list(Question.model_fields), sort=False)
    return [
        {
            row["study"]: row | {"numbers": _numbers_of(row), "failure": failure_word(row)}
            for row in rows.to_dict("records")
        }
        for _, rows in groups
    ]


def compared_points(points: Sequence[Rows]) -> dict[str, list[Rows]]:
    """The points that are compared with the first study's, by workload. References are in the CSV only."""
    found: dict[str, list[Rows]] = {}
    for rows in points:
        first, *others = rows.values()
        if not first["is_reference"] and any(row["not_compared"] == NotCompared.NONE for row in others):
            found.setdefault(first["workload"], []).append(rows)
    return found


def shown(row: Row, name: str) -> Shown:
    """The printed text of a row's number, by name; a dash if the row lacks it."""
    text: Shown = row["numbers"][name].shown
    return text


def _numbers_of(row: Row) -> dict[str, Value]:
    found = {}
    for name, column in _COMPARED.items():
        value, low, high = values = values_of(row, column)
        unit, text = printed_of(column).unit, shown_as(column, values)
        found[name] = Value(value=value, low=low, high=high, unit=unit, shown=text, what=column.meaning)
    return found
