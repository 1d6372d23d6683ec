"""Rounding of printed numbers: as many digits as the interval justifies, the same for value and limits."""

import re
from dataclasses import dataclass
from math import floor, isfinite, isnan, log10, nan

from scalestudy.registry.column import Column, Printed, Row
from scalestudy.registry.words.counts import COUNTS, SI, scaled

Values = tuple[float, float, float]
"""A value and its limits; nan for a missing one."""

DASH = "--"  # replaces a number that does not exist; its row has the reason
WIDE = 100
"""Ratio of the limits above which each number has two digits of its own."""
NOT_RESOLVED = "not resolved"
"""Replaces an estimate whose interval says nothing about it."""


@dataclass(frozen=True)
class Shown:
    """A value and its limits as text; without limits these are empty."""

    value: str
    low: str = ""
    high: str = ""

    @property
    def limits(self) -> str:
        """'[0.31, 0.50]', or '' without limits."""
        return f"[{self.low}, {self.high}]" if self.low else ""

    def __str__(self) -> str:
        return f"{self.value} {self.limits}".strip()


def show(value: float, low: float = nan, high: float = nan, *, factor: float = 1) -> Shown:
    """Round to two significant digits of the interval's half-width; without an interval, to three of the value.

    If the limits differ by more than a factor of WIDE, each number has two significant digits of its own.
    """
    if isnan(value):
        return Shown(DASH)
    value = value * factor
    if not (isfinite(low) and isfinite(high)):
        return Shown(_fixed(value, _decimals(value, significant=3)))
    low, high = low * factor, high * factor
    half_width, magnitude = (high - low) / 2, max(abs(value), abs(low), abs(high))
    digits = (
        # At most five digits of the value: an interval can be far narrower than the value.
        min(_decimals(half_width, significant=2), _decimals(magnitude, significant=5))
        if half_width > 0
        else _decimals(value, significant=3)
    )
    if 0 < WIDE * low < high:
        # Common decimals would print the lower limit as 0 and far too many digits of the upper one.
        return Shown(*(_fixed(number, _decimals(number, significant=2)) for number in (value, low, high)))
    if low > 0:
        # A ratio or a time is positive, so it is never printed as 0, however wide its interval is.
        digits = max(digits, _decimals(value, significant=2))
    return Shown(*(_fixed(number, digits) for number in (value, low, high)))


def show_percent(percent: float) -> Shown:
    """A share in per cent with one decimal; '<0.1' for a small share that would be rounded to 0.0."""
    return Shown("<0.1" if 0 < abs(percent) < 0.05 else f"{percent:.1f}")


def show_weight(weight: float) -> Shown:
    """A weight between 0 and 1 with two decimals."""
    return Shown(f"{weight:.2f}")


def show_count(number: float) -> Shown:
    """A count, printed in full."""
    return Shown(f"{number:.0f}")


def show_scaled(number: float, unit: str = "") -> Shown:
    """'42 M', '1.28 G': three digits and the SI prefix of a unit; a count has B instead of G."""
    return Shown(scaled(number, SI if unit else COUNTS))


def printed_of(column: Column) -> Printed:
    """How a column is printed. The column must be one that is printed."""
    assert column.printed is not None, f"{column.name} is not printed"
    return column.printed


def values_of(row: Row, column: Column) -> Values:
    """(value, low, high) in the printed unit; nan for values that the row lacks."""
    given = [float(row.get(name, nan)) * printed_of(column).factor for name in column.names]
    value, low, high = given if len(given) > 1 else (*given, nan, nan)
    return value, low, high


def shown_as(column: Column, values: Values) -> Shown:
    """The text of a value and its limits."""
    if isnan(values[0]):
        return Shown(DASH)
    printed = printed_of(column)
    if printed.rounding == "scaled":
        return show_scaled(values[0], printed.unit)
    one = {"count": show_count, "share": show_percent}.get(printed.rounding)
    return one(values[0]) if one else show(*values)


def table_format(numbers: list[str]) -> str:
    """The siunitx `table-format` for these numbers. Other texts are skipped."""
    matches = [re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?", number) for number in numbers]
    found = [match for match in matches if match]
    sign = "-" if any(match[1] for match in found) else ""
    before = max((len(match[2]) for match in found), default=1)
    after = max((len(match[3] or "") for match in found), default=0)
    return f"{sign}{before}.{after}"


def _decimals(number: float, *, significant: int) -> int:
    """Decimals after the point for this many significant digits of a number; can be negative."""
    if number == 0:
        return significant - 1
    return significant - 1 - floor(log10(abs(number)))


def _fixed(number: float, decimals: int) -> str:
    text = f"{round(number, decimals):.{max(decimals, 0)}f}"
    return text.removeprefix("-") if float(text) == 0 else text
