"""One cell of a log that is a table, as a number in our unit."""

from __future__ import annotations

import re
from math import isfinite, nan
from typing import Any

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import SECONDS
from scalestudy.importers.logs.lines import iso_seconds
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import is_blank, read_cell

NOTHING = ("", "nan", "null", "none")
"""What programs write where a row has no value of a column."""
EMPTY = (*NOTHING, "-", "n/a", "na")
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _number_or_nan(value: Any) -> float:
    """Return a value of JSON as a number; nan if it is none."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else nan


def value_of(cell: Any, quantity: str, factor: float | None, *, comma: bool) -> float:
    """Return a cell in our unit; nan if it is empty. Raises ValueError if it is no number.

    factor: from the unit of its column to ours. A unit of time in the cell counts more. comma: decimals follow a
    comma.
    """
    if cell is None or isinstance(cell, (bool, int, float)):
        return nan if isinstance(cell, bool) else _number_or_nan(cell) * (factor or 1.0)
    text = str(cell).strip()
    if quantity == "step" and "/" in text:
        text = text.partition("/")[0].rstrip()
    if not comma or "." not in text:
        try:
            value = float(text.replace(",", ".") if comma else text)
            return value * (factor or 1.0) if isfinite(value) else nan
        except ValueError:
            pass
    if text.lower() in EMPTY or is_blank(text):
        return nan
    if quantity in ("clock_s", "step_time_s") and (duration := read_duration(text)):
        return duration.value
    if quantity == "clock_s" and (":" in text or DATE.match(text)):
        return iso_seconds(text)
    read = read_cell(text, comma=comma)
    if read.percent:
        raise ValueError(f"{text} is not a number")
    if quantity in ("clock_s", "step_time_s") and read.unit:
        factor = unit_of_time(read.unit)
    return read.printed.value * (factor or 1.0)


def is_dash(cell: Any) -> bool:
    """Return whether a cell says in a sign or a word that a number is missing: `--`, `n/a`; not if it is empty."""
    text = cell.strip().lower() if isinstance(cell, str) else ""
    return text not in NOTHING and (text in EMPTY or is_blank(text))


def label_of(cell: Any) -> str:
    """Return a cell that says of which run a row is; '' if it says nothing."""
    text = str(cell or "")
    return "" if text.strip().lower() in EMPTY else text


def unit_of_time(unit: str) -> float | None:
    """Return the seconds of a unit of time as cells have it; None if it is none."""
    return SECONDS.get(meaning_of(f"time ({unit})").unit)


def has_unit_of_time(text: str) -> bool:
    """Return whether a cell is a number with a unit of time."""
    try:
        unit = read_cell(text).unit
    except ValueError:
        return False
    return bool(unit) and unit_of_time(unit) is not None
