"""Cells with several measurements of one setup: repeats, ranges, and a mean behind them."""

from __future__ import annotations

import re
from math import isclose

from scalestudy.importers.numbers.printed import Printed, is_blank, plain, read_cell

_ESTIMATED = re.compile(
    r"\((?:est|estim(?:ated?)?|extrap(?:olated)?|interp(?:olated)?|proj(?:ected)?|pred(?:icted)?|expected)\.?\)$",
    re.IGNORECASE,
)
_NUMBER = r"(?:\d{1,3}(?: \d{3})+|[\d.,]+)"
_RANGE = re.compile(rf"~?{_NUMBER}\s*(?:[-\u2010-\u2015~]|to)\s*~?{_NUMBER}[^\d]*")
WIDE = 3.0  # ratio of the ends of a range, such as 3-5 h
ALIKE = 1.5
"""Ratio of the largest to the smallest number of a cell, up to which they are repeats of one measurement."""
_PARTS = re.compile(r"\s*(?:/(?=\s*~?[\d.])|[;|]|,\s|\band\b|\bto\b|(?<=\d)\s*[-\u2010-\u2015~]\s*(?=[\d.]))\s*")
_MOST_PARTS = 20
_OF_A_TRIAL = re.compile(
    r"\s+\(?(?:first|second|third|fourth|fifth|1st|2nd|3rd|\dth|last|cold|warm|hot)"
    r"(?: (?:trial|run|try|pass|repeat))?\)?$",
    re.IGNORECASE,
)
"""What tells one of several repeats from the others, behind its number."""
_MOST_REPEATS = 20
_SUM = re.compile(r"(?P<first>\d[\d.,]*) ?\+{1,2} ?(?P<second>\d[\d.,]*)(?P<unit> ?[^\W\d]{1,7})?")
_REPEAT = re.compile(r"[\d.,]+ ?[a-z]{0,3}", re.IGNORECASE)
_TO_MEAN = re.compile(
    r"(?P<repeats>[\d.,;/|+\sa-z]+?)\s*(?:->|=>|\u2192|=|~|mean|avg:?)\s*(?P<mean>[\d.,]+ ?[a-z]{0,3})",
    re.IGNORECASE,
)


def repeats_in(text: str, *, comma: bool = False) -> Printed | None:
    """Return the mean of several measurements in a cell, or the middle of a range, with half their spread.

    None if the cell has one number, or numbers too different to be of one setup.
    """
    text = _without_remark(text)
    parts = [part for part in _PARTS.split(text) if part and not is_blank(part)]
    if not 2 <= len(parts) <= _MOST_PARTS:
        return None
    parts = [_OF_A_TRIAL.sub("", part) for part in parts]
    try:
        cells = [read_cell(part, comma=comma) for part in parts]
    except ValueError:
        return None
    if len({cell.unit for cell in cells if cell.unit}) > 1:
        return None  # 60 s / 52 GB
    numbers = [cell.printed for cell in cells]
    low, high = min(one.value for one in numbers), max(one.value for one in numbers)
    most = WIDE if _RANGE.fullmatch(text) else ALIKE
    if not low > 0 or high > low * most or any(cell.percent or cell.unit.lower() == "x" for cell in cells[:-1]):
        return None
    last = max(one.last for one in numbers)
    mean = sum(one.value for one in numbers) / len(numbers)
    half = (high - low) / 2
    return Printed(mean, last if isclose(low, high) else half + min(last, half))


def sum_of_parts(text: str, *, comma: bool = False) -> Printed | None:
    """Return the sum of two times in a cell, 10.35+0.78, such as those of training and communication."""
    found = _SUM.fullmatch(_without_remark(text))
    if not found:
        return None
    parts = [read_cell(found[which], comma=comma).printed for which in ("first", "second")]
    return Printed(sum(part.value for part in parts), max(part.last for part in parts))


def unit_of_repeats(text: str) -> str:
    """Return the last of several measurements in a cell, which has their unit."""
    return _OF_A_TRIAL.sub("", _PARTS.split(_without_remark(text))[-1])


def _without_remark(text: str) -> str:
    """A cell without a remark in brackets behind it, which may have further numbers: 4-5 h (1-2 h in stage 1)."""
    return re.sub(r"(?<=[^\s(]) ?\([^()]*\)$", "", plain(text))


def mean_of_repeats(text: str) -> str:
    """Return the mean that follows repeats and an arrow or equals sign. Other texts are returned unchanged."""
    found = _TO_MEAN.fullmatch(plain(text))
    if found is None:
        return text
    repeats = re.split(r"[;,/|+]", found["repeats"])
    several = 1 < len(repeats) <= _MOST_REPEATS and all(_REPEAT.fullmatch(one.strip()) for one in repeats)
    return found["mean"] if several else text


def is_estimated(text: str) -> bool:
    """Return whether a cell says behind its number that it was not measured: 1.2 (est.)."""
    return bool(_ESTIMATED.search(plain(text)))


def why_unread(text: str) -> str:
    """Return why a cell has no number that can be read."""
    words = plain(text)
    if is_estimated(text):
        return "is an estimate"
    if _RANGE.fullmatch(words):
        return "is a wide range (write one number, such as the median)"
    several = re.fullmatch(r"\[?[\d.:]+(?:\s*[,;/]\s*[\d.:]+)+\]?", words) and (
        ", " in words or words[0] == "[" or words.count(",") > 1
    )
    return (
        "has several numbers that differ (write one of them, such as the median)" if several else "is not a number"
    )
