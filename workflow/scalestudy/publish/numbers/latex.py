"""Numbers for LaTeX: the values for report/templates/numbers.tex from numbers.json."""

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.templates import latex

NO_INTERVAL = "no interval"
_UNITS = {"us": r"\ensuremath{\mu}s", "%": r"\%"}


def numbers_view(numbers: NumbersFile) -> dict[str, Any]:
    """Values for the template."""
    return {
        "study": numbers.study,
        "version": numbers.scalestudy,
        "numbers": [(key, _fields(number)) for key, number in _also_short(numbers, numbers.numbers)],
        "renamed": _also_short(numbers, numbers.renamed),
    }


def _also_short(numbers: NumbersFile, found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each entry by its key, then again by the shorter key of its point."""
    yield from found.items()
    of_point: dict[str, list[str]] = {point: [] for point in numbers.aliases.values()}
    for key in found:
        for place in (place for place, sign in enumerate(key) if sign == "."):
            if key[:place] in of_point:
                of_point[key[:place]].append(key)
    for short, point in numbers.aliases.items():
        for key in of_point[point]:
            yield f"{short}{key.removeprefix(point)}", found[key]


def _fields(number: Number) -> tuple[str, str, str, str]:
    """(value, limits, unit, digits only) for the macros of the template."""
    shown = number.shown
    limits = f"[{_text(shown.low)}, {_text(shown.high)}]" if shown.low else NO_INTERVAL
    return _text(shown.value), limits, _UNITS.get(number.unit, latex(number.unit)), latex(shown.value)


def _text(number: str) -> str:
    """The number with a minus sign that works in text and in math."""
    if number.startswith("-"):
        return rf"\scalestudy@minus {latex(number[1:])}"
    return rf"\ensuremath{{<}}{latex(number[1:])}" if number.startswith("<") else latex(number)
