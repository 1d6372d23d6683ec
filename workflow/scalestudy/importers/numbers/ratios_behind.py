"""Ratios behind a number in one spelling: `1349 (speedup 1.93x)` and `1349 \u21911.93x` are `1349 (1.93x)`."""

from __future__ import annotations

import re

from scalestudy.importers.numbers.printed import plain

_EFFICIENCY = r"(?:(?:parallel|strong|weak|linear|gpu)[ -])?(?:scal(?:ing|e|ability)[ -])?eff(?:iciency|\.)?"
_OF_LINEAR = r"(?:of )?(?:linear|ideal|perfect|theoretical)(?: scaling| speed-?up)?"
_WORDS = rf"{_EFFICIENCY}|{_OF_LINEAR}|scaling|(?:relative )?speed-?up|faster"
_RATIO = (
    rf"(?:(?P<before>{_WORDS})(?: ?[:=~]| of)? ?|(?P<arrow>[\u2191\u2b06\u25b2]) ?)?"
    r"(?P<times>~?x ?)?(?P<number>~?(?:\d+\.?\d*|\.\d+))(?P<sign> ?(?:x(?!\w)|%|-?fold\b|times\b)|)"
    rf"(?P<after> (?:{_WORDS}))?(?: (?:vs\.?|over|to|on|from) [\w -]{{1,20}})?"
)
_BEHIND = re.compile(
    r"(?P<measured>[~(]?\d[^()\[\]]*?)\s*(?:"
    r"(?P<open>[(\[])\s*(?P<inside>[^()\[\]]+?)\s*[)\]]|"
    r"(?P<separator>\s[/|-]\s|[/|;,]\s?|\s(?=[\u2191\u2b06\u25b2]))\s*(?P<last>[^()\[\]]+))",
    re.IGNORECASE,
)
_ONE = re.compile(_RATIO, re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:,\s|[/;|]|\band\b|\s-\s|(?<=[x%])\s(?=~?\d))\s*")
"""What separates two ratios."""
_MOST = 2.0
"""Above this an efficiency as a fraction is none."""


def with_ratios_in_one_spelling(cell: str, *, in_brackets: bool = False) -> str:
    """Return a cell whose one or two ratios behind a number are `(1.93x)`, `(96%)` or `(1.93x, 96%)`.

    A share that is called an efficiency is `(96% efficiency)`. Any other cell stays as it is, and so does one
    whose ratios have neither words nor arrows, such as 410 / 1.93x, unless in_brackets.
    """
    text = plain(cell)
    found = _BEHIND.fullmatch(text)
    if not found:
        return cell
    parts = [_ONE.fullmatch(part.strip()) for part in _BETWEEN.split(found["inside"] or found["last"])]
    ratios = [_ratio(one) if one else "" for one in parts]
    told = in_brackets or any(one and _says(one) for one in parts) or (len(ratios) > 1 and found["open"])
    if not all(ratios) or not told or len({"%" in ratio for ratio in ratios}) < len(ratios):
        return cell
    return f"{found['measured']} ({', '.join(ratios)})"


def _says(one: re.Match[str]) -> bool:
    """Whether a ratio has words or signs that other readers do not know: an arrow, `eff.` in front, x1.93."""
    return bool(one["before"] or one["arrow"] or one["after"] or one["times"] or "~" in one["number"])


def _ratio(one: re.Match[str]) -> str:
    """A ratio with its sign behind it; empty if nothing says which one it is."""
    words = (one["before"] or one["after"] or "").strip().lower()
    sign = (one["sign"] or "").strip().lower()
    if sign == "%":
        gain = one["arrow"] or words in ("faster", "speedup", "speed-up", "scaling")
        return "" if gain else f"{one['number']}%{' efficiency' * bool(words)}"
    if words and re.fullmatch(rf"{_EFFICIENCY}|{_OF_LINEAR}", words):
        return "" if sign or one["times"] else _in_percent(one["number"])
    return f"{one['number']}x" if sign or one["times"] or words or one["arrow"] else ""


def _in_percent(number: str) -> str:
    """A fraction in per cent with the same digits: 0.964 is 96.4%."""
    digits = number.lstrip("~")
    value = float(digits)
    decimals = max(len(digits.partition(".")[2]) - 2, 0)
    return f"{'~' * number.startswith('~')}{100 * value:.{decimals}f}% efficiency" if 0 < value < _MOST else ""
