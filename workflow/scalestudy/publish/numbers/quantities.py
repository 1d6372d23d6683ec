"""A quantity of a row: its value and limits in the printed unit, and as a reader sees it."""

from __future__ import annotations

from math import isnan, nan

from scalestudy.publish.numbers.rounding import DASH, Shown, show, show_count, show_percent, show_scaled
from scalestudy.registry.column import Column, Row

Values = tuple[float, float, float]
ONE = {"count": show_count, "share": show_percent, "scaled": show_scaled}


def values_of(row: Row, column: Column) -> Values:
    """(value, low, high) in the printed unit; nan for what the row does not have."""
    assert column.printed is not None, f"{column.name} is not printed"
    given = [float(row.get(name, nan)) * column.printed.factor for name in column.names]
    value, low, high = given if len(given) > 1 else (*given, nan, nan)
    return value, low, high


def shown_as(column: Column, values: Values) -> Shown:
    """The text of a value and its limits."""
    assert column.printed is not None, f"{column.name} is not printed"
    if isnan(values[0]):
        return Shown(DASH)
    one = ONE.get(column.printed.rounding)
    return one(values[0]) if one else show(*values)
