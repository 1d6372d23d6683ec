"""Numbers as LaTeX has them: what report/templates/numbers.tex is given of numbers.json."""

from __future__ import annotations

from typing import Any

from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.templates import latex

NO_INTERVAL = "no interval"
_UNITS = {"us": r"\ensuremath{\mu}s", "%": r"\%"}


def numbers_view(numbers: NumbersFile) -> dict[str, Any]:
    """Values for the template: every number, then once more by its shorter key."""
    found = numbers.numbers
    keys = {key: key for key in found}
    for short, point in numbers.aliases.items():
        keys |= {f"{short}{key.removeprefix(point)}": key for key in found if key.startswith(f"{point}.")}
    return {
        "study": numbers.study,
        "version": numbers.scalestudy,
        "numbers": [{"key": key} | _item(found[full]) for key, full in keys.items()],
    }


def _item(number: Number) -> dict[str, str]:
    shown = number.shown
    return {
        "value": _text(shown.value),
        "limits": f"[{_text(shown.low)}, {_text(shown.high)}]" if shown.low else NO_INTERVAL,
        "unit": _UNITS.get(number.unit, latex(number.unit)),
        "raw": latex(shown.value),
    }


def _text(number: str) -> str:
    """With a minus that is one in text as in math."""
    if number.startswith("-"):
        return rf"\scalestudy@minus {latex(number[1:])}"
    return rf"\ensuremath{{<}}{latex(number[1:])}" if number.startswith("<") else latex(number)
